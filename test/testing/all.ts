import './broken.test.js'
import './cases.test.js'
import './report.test.js'
