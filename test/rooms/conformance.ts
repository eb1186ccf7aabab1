import { runRoom } from '../fixtures/rooms.js'

await runRoom('conformance')
