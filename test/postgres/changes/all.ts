import './changes.test.js'
import './kept.test.js'
import './watch.test.js'
