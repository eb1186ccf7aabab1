import './memory.test.js'
import './pglite.test.js'
import './postgres.test.js'
