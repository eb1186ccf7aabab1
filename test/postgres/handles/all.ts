import './handles.test.js'
import './transaction.test.js'
