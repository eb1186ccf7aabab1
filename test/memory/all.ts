import './deliveries.test.js'
import './key-lookup.test.js'
import './lists.test.js'
