import './doors.test.js'
import './tenants.test.js'
