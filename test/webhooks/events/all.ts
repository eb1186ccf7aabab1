import './emit.test.js'
import './erase.test.js'
import './prune.test.js'
import './slug-characters.test.js'
