import './log.test.js'
import './look.test.js'
import './session.test.js'
import './settings.test.js'
