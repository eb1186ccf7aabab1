import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { Agent, request } from 'undici'
import { readCpuMicros, serveQuestions } from '../harness/helper.js'
import { type Done, type Work, createEventData, eventType } from './work.js'

/*
 * The baseline: a loop that signs and posts bodies from memory as fast as undici can. It records nothing, checks no
 * address, has no deadline and loses everything when the process dies.
 */
interface Message {
  url: URL
  secret: Buffer
  id: string
  body: string
}

serveQuestions({ send: (work) => post(work as Work) })

async function post (work: Work): Promise<Done> {
  const messages = createMessages(work)
  const dispatcher = new Agent()

  globalThis.gc?.()
  const cpuBefore = readCpuMicros()
  const startedAt = performance.now()
  const queue = messages.values()
  await Promise.all(Array.from({ length: work.concurrency }, async () => {
    for (const message of queue) await postOne(dispatcher, message)
  }))
  const done = { durationMs: performance.now() - startedAt, cpuMicros: readCpuMicros() - cpuBefore }
  await dispatcher.close()
  return done
}

async function postOne (dispatcher: Agent, { url, secret, id, body: text }: Message): Promise<void> {
  const timestamp = String(Math.floor(Date.now() / 1000))
  const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.${text}`).digest('base64')
  const { statusCode, body } = await request(url, {
    dispatcher,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'fastify-recruiting-api',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${signature}`
    },
    body: text
  })
  await body.dump()
  if (statusCode !== 200) throw new Error(`status ${statusCode}`)
}

function createMessages ({ ports, events }: Work): Message[] {
  const endpoints = ports.map((port, endpoint) => ({
    url: new URL(`http://127.0.0.1:${port}/hooks`),
    secret: randomBytes(32),
    type: eventType(endpoint)
  }))
  const messages: Message[] = []
  while (messages.length < events) {
    for (const { url, secret, type } of endpoints) messages.push({ url, secret, ...createEvent(type, messages.length) })
  }
  return messages
}

function createEvent (type: string, index: number): { id: string, body: string } {
  const id = `evt_${randomUUID().replaceAll('-', '')}`
  const timestamp = new Date().toISOString()
  return { id, body: JSON.stringify({ id, type, timestamp, tenant_slug: 'tenant_0', data: createEventData(index) }) }
}
