import { runRoom } from '../../fixtures/runner/rooms.js'

await runRoom('browser', (file) => file.startsWith('browser/portal-'))
