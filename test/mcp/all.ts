import './clients.test.js'
import './isolation.test.js'
import './oauth.test.js'
import './tools.test.js'
