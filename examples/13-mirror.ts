// Your customers run this. It keeps a copy of candidates and jobs in SQLite. Sync never misses a change; webhooks only
// start it. So lost, late or duplicate webhooks are harmless, and the program can be killed at any time.
//
// npm install fastify-recruiting-api node-sqlite3-wasm
// KEY=acme-secret-key WEBHOOK_SECRET=whsec_… tsx examples/13-mirror.ts

import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { createClient, verifyWebhook } from 'fastify-recruiting-api/client'
import { countItems, openCopy, openDatabase } from './mirror/copy.js'

const {
  BASE_URL: baseUrl = 'http://127.0.0.1:3000/api/v1/public',
  TENANT: tenantSlug = 'acme',
  KEY: key = '',
  WEBHOOK_SECRET = '',
  FILE = 'mirror.db',
  PORT = '3001'
} = process.env
const client = createClient({ baseUrl, tenantSlug, key })
const database = openDatabase(FILE)
const candidates = openCopy(database, 'candidates')
const jobs = openCopy(database, 'jobs')

// A page and its token are saved in one transaction.
async function sync (): Promise<void> {
  for await (const page of client.candidates.sync({ load: () => candidates.token, restart: candidates.beginAgain })) {
    candidates.save(page)
  }
  for await (const page of client.jobs.sync({ load: () => jobs.token, restart: jobs.beginAgain })) jobs.save(page)
  console.log(`up to date: ${countItems(database, 'candidates')} candidates, ${countItems(database, 'jobs')} jobs`)
}

// One sync at a time. A webhook that arrives during a sync requests another one.
let isRequested = false
let last = Promise.resolve()
function requestSync (): void {
  if (!isRequested) {
    last = last
      .then(() => {
        isRequested = false
      })
      .then(sync)
      .catch((error) => console.error('sync failed, it continues later:', error))
  }
  isRequested = true
}

createServer(async (request, response) => {
  const isGenuine = await verifyWebhook(await text(request), request.headers, WEBHOOK_SECRET).then(
    () => true,
    () => false
  )
  response.writeHead(isGenuine ? 204 : 401).end()
  if (isGenuine) requestSync()
}).listen(Number(PORT), '127.0.0.1')

// Catches changes without a webhook, and retries failed syncs.
setInterval(requestSync, 60_000)
requestSync()
