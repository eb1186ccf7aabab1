import './lists.test.js'
import './tenants.test.js'
import './text-ids.test.js'
import './type-parsers.test.js'
