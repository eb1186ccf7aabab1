import './architecture.test.js'
import './docs.test.js'
import './publish.test.js'
