import { runRoom } from '../fixtures/rooms.js'

await runRoom('limits-10')
