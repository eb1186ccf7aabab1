import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import t from 'tap'
import { verifyCodes } from '../../../src/around/portal/page/verify-code.js'
import { generateSecret, signHeaders } from '../../../src/core/webhooks/sending/signature.js'

const secret = generateSecret()
const env = { ...process.env, WEBHOOK_SECRET: secret, PORT: '0' }

const body = '{"id":"evt_1","type":"candidate.created","data":{"name":"Zoë 🎉"}}'
const sign = (secrets: string[], ageSeconds = 0) => signHeaders(secrets, 'evt_1', body, Date.now() - ageSeconds * 1000)

/** Requests, and whether the code must accept them. */
const cases = [
  { name: 'a genuine request', headers: sign([secret]), body, isGenuine: true },
  { name: 'a request during a rotation', headers: sign([generateSecret(), secret]), body, isGenuine: true },
  { name: 'another secret', headers: sign([generateSecret()]), body, isGenuine: false },
  { name: 'another body', headers: sign([secret]), body: body.replace('Zoë', 'Zoe'), isGenuine: false },
  { name: 'another id', headers: { ...sign([secret]), 'webhook-id': 'evt_2' }, body, isGenuine: false },
  { name: 'an old request', headers: sign([secret], 301), body, isGenuine: false },
  { name: 'a request from the future', headers: sign([secret], -400), body, isGenuine: false },
  { name: 'no signature', headers: {}, body, isGenuine: false }
]
const expected = cases.map(({ name, isGenuine }) => [name, isGenuine])

t.test("the portal's JavaScript accepts only genuine requests", async (t) => {
  const code = `${verifyCodes.JavaScript}\nserver.on('listening', () => console.log(server.address().port))`
  const args = ['--input-type=module', '-e', code]
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill())
  const [port] = await once(createInterface(child.stdout), 'line') as [string]
  const results = await Promise.all(cases.map(async ({ name, headers, body }) => {
    const { status } = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers: { ...headers }, body })
    return [name, status === 204]
  }))
  t.strictSame(results, expected)
})

const hasPython = spawnSync('python3', ['--version']).status === 0

t.test("the portal's Python accepts only genuine requests", { skip: !hasPython && 'no python3' }, async (t) => {
  const program = `${verifyCodes.Python}
import sys
def is_genuine(case):
    try:
        return verify(case["body"].encode(), case["headers"])["id"] == "evt_1"
    except ValueError:
        return False
print(json.dumps([[case["name"], is_genuine(case)] for case in json.load(sys.stdin)]))`
  const { stdout, stderr } = spawnSync('python3', ['-c', program], { env, input: JSON.stringify(cases), encoding: 'utf8' })
  t.equal(stderr, '')
  t.strictSame(JSON.parse(stdout), expected)
})
