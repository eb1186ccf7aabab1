// What your customers run: a receiver that believes a notification only when its signature is right, and acts on it
// once. Any Standard Webhooks library will do, in any language.
//
// WEBHOOK_SECRET=whsec_… tsx examples/04-verify-webhook.ts

import { type IncomingMessage, createServer } from 'node:http'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'

// The secret that creating the webhook answered with.
const webhook = new Webhook(process.env.WEBHOOK_SECRET ?? '')
const maxBodyBytes = 1024 * 1024

// In your database, with a unique index, written in the transaction that does the work.
const handledIds = new Set<string>()

interface Event {
  id: string
  type: string
  timestamp: string
  tenant_slug: string
  data: Record<string, unknown>
}

const server = createServer(async (request, response) => {
  try {
    const body = await readBody(request)
    handle(webhook.verify(body, signatureOf(request)) as Event)
    response.writeHead(204).end()
  } catch (error) {
    const isRefused = error instanceof WebhookVerificationError
    console.error(isRefused ? `refused: ${error.message}` : error)
    // Anything but 2xx is sent again later.
    response.writeHead(isRefused ? 401 : 500).end()
  }
})

function handle ({ id, type, tenant_slug: tenant, data }: Event): void {
  // Delivered at least once: a retry and a replay carry the id of the first delivery.
  if (handledIds.has(id)) return console.log(`${id} again, nothing to do`)
  handledIds.add(id)
  console.log(`${id} ${tenant} ${type} ${JSON.stringify(data)}`)
}

// The bytes as they came: parsed and written again, they would no longer match the signature.
async function readBody (request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > maxBodyBytes) throw new WebhookVerificationError('The body is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function signatureOf ({ headers }: IncomingMessage): Record<string, string> {
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature']
  return Object.fromEntries(names.map((name) => [name, String(headers[name] ?? '')]))
}

server.listen(Number(process.env.PORT ?? 3001), '127.0.0.1', () => {
  const address = server.address()
  console.log(`listening at http://127.0.0.1:${typeof address === 'object' ? address?.port : address}`)
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => server.close())
