import './matrix.test.js'
import './places.test.js'
