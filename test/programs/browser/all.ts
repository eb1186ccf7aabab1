import './client.test.js'
import './demo.test.js'
