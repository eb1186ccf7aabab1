import { runAlone } from '../fixtures/runner/rooms.js'

await runAlone()
