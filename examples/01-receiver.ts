// Your customers run this. It verifies and prints each notification.

import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'

const webhook = new Webhook(process.env.WEBHOOK_SECRET ?? '')
const server = createServer(async (request, response) => {
  try {
    console.log('verified', webhook.verify(await buffer(request), request.headers as Record<string, string>))
    response.writeHead(204).end()
  } catch (error) {
    console.log(`rejected: ${error}`)
    response.writeHead(401).end()
  }
})
server.listen(Number(process.env.PORT ?? 3001), '127.0.0.1', () => console.log('listening', server.address()))
