import './cases.test.js'
import './report.test.js'
