import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { startProcess } from '../fixtures/crash/crash.js'
import { startPostgresServerHost } from '../fixtures/postgres/postgres.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'
import { storeWebhook } from '../fixtures/api/webhooks.js'

const emits = 300
const atOnce = 3

t.test('300 events are delivered although the process is killed right after each emit', async (t) => {
  const { server, storage } = await startPostgresServerHost(t, { settings: ['fsync=on'] })
  const receiver = await startReceiver(t)
  await storeWebhook(storage, 'acme', { targetUrl: receiver.url, eventTypes: ['job.created'] })

  const emitted: string[] = []
  await Promise.all(Array.from({ length: atOnce }, async (_, lane) => {
    for (let count = lane; count < emits; count += atOnce) {
      const child = startProcess(t, 'crash-emitter', server.url)
      const [id, [, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')])
      t.equal(signal, 'SIGKILL')
      emitted.push(id)
    }
  }))
  t.equal(new Set(emitted).size, emits)

  // Everything of the server's that was only in memory is lost, too.
  await server.stop('immediate')
  await server.start()
  const worker = createRecruiting({ storage, delivery: { allowHttp: true, allowNetworks: ['127.0.0.1/32'], pollMs: 100 } })
  await worker.drain()
  await worker.close()
  const arrived = receiver.requests.map(({ headers }) => String(headers['webhook-id']))
  t.strictSame(arrived.toSorted(), emitted.toSorted())
})
