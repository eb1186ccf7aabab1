import './attempt.test.js'
import './connections.test.js'
import './signature.test.js'
import './tls.test.js'
