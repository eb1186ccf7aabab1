// An agent that prints each hire once, also those from before it was started again.
//
// MCP_URL=… API_KEY=… node 24-agent.mjs FILE PORT

import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createMCPClient, experimental_createMCPEventWebhook as createMCPEventWebhook } from '@ai-sdk/mcp'

const [, , file, port] = process.argv
const { MCP_URL: url, API_KEY: key } = process.env

// The subscription with its secret and cursor.
const saved = new Map(existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [])
function save () {
  writeFileSync(`${file}.new`, JSON.stringify([...saved]))
  renameSync(`${file}.new`, file)
}
const store = {
  get: async (key) => saved.get(key),
  getById: async (id) => [...saved.values()].find((one) => one.id === id),
  async set (one) { saved.set(one.key, one); save() },
  async update (key, changes) { saved.set(key, { ...saved.get(key), ...changes }); save() },
  async delete (key) { saved.delete(key); save() }
}

// Deliveries can repeat.
const handled = new Set(existsSync(`${file}.log`) ? readFileSync(`${file}.log`, 'utf8').split('\n') : [])
const receive = createMCPEventWebhook({
  store,
  async onEvent ({ event: { eventId, data } }) {
    if (handled.has(eventId)) return
    handled.add(eventId)
    appendFileSync(`${file}.log`, `${eventId}\n`)
    console.log(`hired ${data.id}`)
  },
  onGap: async () => console.log('events were lost'),
  onTerminated: async () => console.log('ended'),
  onError: console.error
})

const server = createServer(async (request, response) => {
  const { method, headers, url: path } = request
  const body = ['GET', 'HEAD'].includes(method) ? undefined : request
  const answer = await receive(new Request(`http://127.0.0.1:${port}${path}`, { method, headers, body, duplex: 'half' }))
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
})
await new Promise((resolve) => server.listen(Number(port), '127.0.0.1', resolve))

const client = await createMCPClient({
  transport: { type: 'http', url, headers: { Authorization: `Bearer ${key}` } },
  experimental_events: { store }
})
const { experimental_events: events } = client

async function subscribe () {
  const [known] = saved.keys()
  const { refreshBefore, truncated } = known === undefined
    ? await events.subscribe({
      name: 'application.hired',
      // Without allowInsecureLocalhost, the URL must be https.
      delivery: { mode: 'webhook', url: `http://127.0.0.1:${port}/`, allowInsecureLocalhost: true }
    })
    : await events.refresh({ key: known })
  console.log(`subscribed, truncated: ${truncated}`)
  setTimeout(subscribe, (Date.parse(refreshBefore) - Date.now()) / 2)
}
await subscribe()
