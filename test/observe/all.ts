import './audit.test.js'
import './log.test.js'
import './tracing.test.js'
