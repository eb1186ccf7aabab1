import { runRoom } from '../fixtures/runner/rooms.js'

await runRoom('recorder')
