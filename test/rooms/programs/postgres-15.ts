import { runRoom } from '../../fixtures/runner/rooms.js'

await runRoom('postgres-15')
