import { runRoom } from '../../fixtures/runner/rooms.js'

await runRoom('postgres', (file) => /^postgres\/(?:changes|lists)\//.test(file))
