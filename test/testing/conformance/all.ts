import './memory.test.js'
import './postgres.test.js'
