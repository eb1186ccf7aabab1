import type { AddressInfo } from 'node:net'
import { devNull } from 'node:os'
import { serveQuestions } from '../harness/helper.js'
import { createCandidates } from './candidates.js'
import { createOwnApp } from './own-app.js'
import { createPlainApp } from './plain-app.js'

/** `node server.js <ours|plain> <silent|logging>` */
const [who, logging] = process.argv.slice(2)
const createApp = who === 'ours' ? createOwnApp : createPlainApp
const app = createApp(createCandidates(1000), { logger: logging === 'logging' ? { file: devNull } : false })
await app.listen({ host: '127.0.0.1', port: 0 })

serveQuestions({ port: () => (app.server.address() as AddressInfo).port })
