// Your customers run this. It verifies and prints each notification, and marks those that are older than the last one
// of the same record.

import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'

interface Event {
  type: string
  sequence: string
  data: { id: number } | null
  erased?: true
}

// Store it in your database, with the record.
const newest = new Map<string, string>()

const webhook = new Webhook(process.env.WEBHOOK_SECRET ?? '')
const server = createServer(async (request, response) => {
  try {
    const event = webhook.verify(await buffer(request), request.headers as Record<string, string>) as Event
    const record = `${event.type.split('.')[0]} ${event.data?.id}`
    // A tombstone has the sequence of the event whose data it erases.
    const isNewer = event.erased === true || event.sequence > (newest.get(record) ?? '')
    if (isNewer) newest.set(record, event.sequence)
    console.log(isNewer ? 'verified' : 'verified, but older', event)
    response.writeHead(204).end()
  } catch (error) {
    console.log(`rejected: ${error}`)
    response.writeHead(401).end()
  }
})
server.listen(Number(process.env.PORT ?? 3001), '127.0.0.1', () => console.log('listening', server.address()))
