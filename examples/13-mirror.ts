// Your customers run this. It keeps a copy of candidates and jobs in SQLite. Sync brings every change, whatever happened
// meanwhile; webhooks only say when to sync. So a webhook that is lost, late or twice does no harm, and the program may be
// killed at any moment.
//
// npm install node-sqlite3-wasm standardwebhooks
// KEY=acme-secret-key WEBHOOK_SECRET=whsec_… tsx examples/13-mirror.ts

import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import { countItems, openCopy, openDatabase } from './mirror/copy.js'
import { sync } from './mirror/sync.js'

const { API = 'http://127.0.0.1:3000/api/v1/public/acme', KEY: key = '', WEBHOOK_SECRET = '', FILE = 'mirror.db', PORT = '3001' } = process.env
const database = openDatabase(FILE)
const candidates = openCopy(database, 'candidates')
const jobs = openCopy(database, 'jobs')

// The receiver answers at once and leaves the work to the loop below.
const webhook = new Webhook(WEBHOOK_SECRET)
const server = createServer(async (request, response) => {
  try {
    webhook.verify(await buffer(request), request.headers as Record<string, string>)
    response.writeHead(204).end()
    requestSync()
  } catch {
    response.writeHead(401).end()
  }
})
server.listen(Number(PORT), '127.0.0.1')

// A webhook that arrives during a sync asks for one more. Several become one.
let isRequested = true
let wake = (): void => {}

function requestSync (): void {
  isRequested = true
  wake()
}

// Brings what no webhook announced, and what failed before.
setInterval(requestSync, 60_000)

for (;;) {
  while (isRequested) {
    isRequested = false
    try {
      await sync({ url: `${API}/candidates/sync`, key }, candidates)
      await sync({ url: `${API}/jobs/sync`, key }, jobs)
      console.log(`up to date: ${countItems(database, 'candidates')} candidates, ${countItems(database, 'jobs')} jobs`)
    } catch (error) {
      console.error('sync failed, it continues later:', error)
    }
  }
  await new Promise<void>((resolve) => { wake = resolve })
}
