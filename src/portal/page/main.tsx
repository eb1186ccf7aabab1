import './styles/portal.css'
import { define } from './element.js'

export { define }

// In a page of our own, the element has its configuration with it.
const config = document.querySelector('recruiting-webhooks')?.getAttribute('config')
if (config != null) define(JSON.parse(config))
