import { runRoom } from '../fixtures/runner/rooms.js'

await runRoom('limits-10')
