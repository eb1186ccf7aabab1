// Your customers run a receiver like this. It verifies the signature of each notification and processes each event
// once. Standard Webhooks has libraries for most languages.
//
// WEBHOOK_SECRET=whsec_… tsx examples/04-verify-webhook.ts

import { type IncomingMessage, createServer } from 'node:http'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'

// The secret from the response that created the webhook.
const secret = process.env.WEBHOOK_SECRET ?? ''
const webhook = new Webhook(secret)
const maxBodyBytes = 1024 * 1024

// Store these in your database, with a unique index, in the transaction that does the work.
const handledIds = new Set<string>()

interface Event {
  id: string
  type: string
  timestamp: string
  sequence: string
  tenant_slug: string
  data: Record<string, unknown> | null
  test?: true
  erased?: true
}

const server = createServer(async (request, response) => {
  try {
    const rawBody = await readBody(request)
    const headers = signatureOf(request)
    const event = webhook.verify(rawBody, headers) as Event
    handle(event)
    response.writeHead(204).end()
  } catch (error) {
    const isRejected = error instanceof WebhookVerificationError
    console.error(isRejected ? `rejected: ${error.message}` : error)
    // After any status other than 2xx, the notification is sent again.
    response.writeHead(isRejected ? 401 : 500).end()
  }
})

function handle ({ id, type, tenant_slug: tenant, data, test, erased }: Event): void {
  if (test) return console.log(`${id} is a test, nothing to do`)
  // A tombstone has the id of the original event: delete the data that came with it.
  if (erased) return console.log(`${id} ${tenant} ${type} erased, delete its data`)
  // Delivery is at least once: retries and replays have the first delivery's id.
  if (handledIds.has(id)) return console.log(`${id} again, nothing to do`)
  handledIds.add(id)
  console.log(`${id} ${tenant} ${type} ${JSON.stringify(data)}`)
}

// Returns the raw bytes: a parsed and serialized body would not match the signature.
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
