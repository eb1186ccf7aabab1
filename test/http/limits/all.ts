import './failed-keys.test.js'
import './limits.test.js'
