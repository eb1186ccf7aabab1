import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { curlCommand } from '../../../src/around/portal/page/deliveries.js'
import { findProgram } from '../../fixtures/programs.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const body = '{"id":"evt_1","data":{"text":"it\'s $HOME `id` \\n \\"é\\" %s !"}}'
const missing = findProgram('curl', ['/usr/bin/curl', '/bin/curl']).missing || findProgram('openssl', ['/usr/bin/openssl', '/bin/openssl']).missing

t.test('the curl command sends the exact body, signed with WEBHOOK_SECRET', { skip: missing }, async (t) => {
  const receiver = await startReceiver(t)
  const command = curlCommand({ url: `${receiver.url}/[a]{b}?q='x'`, eventId: 'evt_1', body, headerNames: ['X-Api-Key'] })
  const run = (environment: object) => promisify(execFile)('/bin/sh', ['-c', command], { env: { PATH: process.env.PATH, ...environment } })
  await run({ WEBHOOK_SECRET: secret })
  const [request] = receiver.requests
  t.equal(request?.body, body)
  t.match(request?.path, /^\/hook\/\[a\]\{b\}\?q='x'$/)
  t.match(request?.headers, { 'webhook-id': 'evt_1', 'content-type': 'application/json', 'x-api-key': '<value>' })
  t.strictSame(new Webhook(secret).verify(body, request?.headers as Record<string, string>), JSON.parse(body))
  await t.rejects(run({}), /WEBHOOK_SECRET/)
  t.equal(receiver.requests.length, 1, 'no request without a secret')
})
