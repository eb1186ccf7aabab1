import { runAlone } from '../fixtures/rooms.js'

await runAlone()
