import './api-keys.test.js'
import './key-lookup.test.js'
