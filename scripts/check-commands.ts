// Runs every command of the packed tarball, installed in a host's folder, on a new database.
//
// tsx scripts/check-commands.ts FOLDER

import { strictEqual } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createRecruiting } from '../src/index.js'
import { commands } from '../src/tools/cli/commands.js'
import { postgresStorage } from '../src/storages/postgres/index.js'
import { startPostgresServer } from '../test/fixtures/postgres/postgres-server.js'

const [, , folder = '.'] = process.argv
const longestStartMs = 300
// Node.js alone, on an idle machine. A busy machine is proportionally slower.
const usualBareMs = 50
const closers: Array<() => Promise<unknown>> = []
const server = await startPostgresServer({ teardown: (close) => { closers.unshift(close) } }, {
  // Without `autovacuum=off`, which doctor would report.
  settings: ['fsync=off']
})
const pool = server.createPool()
const program = join(folder, 'node_modules/.bin/fastify-recruiting-api')
const ran = new Set<string>()

/** Runs a command with `--json` and returns its output. */
async function run (name: string, options = '', expected = 0): Promise<unknown> {
  ran.add(name)
  const argv = [...`${name} ${options}`.trim().split(/ +/), '--json']
  const settings = { cwd: folder, env: { ...process.env, DATABASE_URL: server.url } }
  const { code, stdout, stderr } = await promisify(execFile)(program, argv, settings).then(
    (output) => ({ code: 0, ...output }),
    (error) => error
  )
  strictEqual(code, expected, `${name} ${options}: ${stdout}${stderr}`)
  return stdout === '' ? null : JSON.parse(stdout)
}

/** Returns the shortest of several times in milliseconds: other work on the machine only makes them longer. */
async function measure (call: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  while (times.length < 7) {
    const startedAt = performance.now()
    await call()
    times.push(performance.now() - startedAt)
  }
  return Math.min(...times)
}

writeFileSync(join(folder, 'secret-keys'), Buffer.alloc(32, 1).toString('base64'))
await run('migrate', '--dry-run')
await run('migrate')
await pool.query('create table people (id bigint, company text)')
await run('watch', '--kind candidate --relation people --id id --tenant company')
const { id: keyId } = (await run(
  'keys issue',
  '--tenant acme --scopes webhooks:read,webhooks:write --yes --out key'
)) as { id: string }
await run('keys list', '--tenant acme')
const { id: newKeyId } = await run('keys rotate', `${keyId} --tenant acme --yes --out new-key`) as { id: string }
await run('keys revoke', `${newKeyId} --tenant acme --yes`)
writeFileSync(join(folder, 'keys.json'), JSON.stringify([
  { tenant: 'imported', key: 'a-key-of-your-own', scopes: ['jobs:read'] }
]))
await run('keys import', 'keys.json --yes')

// A host with an endpoint that fails at first.
let status = 500
const endpoint = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(status).end())
})
await new Promise<void>((resolve) => { endpoint.listen(0, '127.0.0.1', resolve) })
const address = endpoint.address()
const port = typeof address === 'object' ? address?.port : undefined
const recruiting = createRecruiting({
  storage: postgresStorage(pool),
  logger: { info () {}, warn () {}, error: console.error },
  delivery: { allowHttp: true, allowNetworks: ['127.0.0.1/32'], pollMs: 10, retrySchedule: [0, 3600] }
})
const { id } = await recruiting.webhooks.create('acme', {
  name: 'CRM',
  target_url: `http://127.0.0.1:${port}/`,
  event_types: ['application.created']
})
await recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
await recruiting.drain()

const webhooks = [
  {
    tenant: 'imported',
    name: 'CRM',
    target_url: 'https://example.com/',
    event_types: ['application.created'],
    secret: `whsec_${Buffer.alloc(24, 1).toString('base64')}`
  }
]
writeFileSync(join(folder, 'webhooks.json'), JSON.stringify(webhooks))
await run('webhooks import', 'webhooks.json --yes')
await run('webhooks list', '--tenant acme')
await run('webhooks failing')
await run('webhooks show', `${id}`)
const { data: [delivery] } = await run('deliveries list', `--webhook ${id}`) as { data: Array<{ id: number }> }
await run('deliveries show', `${delivery?.id} --webhook ${id}`)
await run('deliveries explain', `evt_1 --webhook ${id}`)
await run('stats')
status = 204
await run('deliveries retry', `${delivery?.id} --webhook ${id} --yes`)
await recruiting.drain()
await run('doctor', '--no-lists')
await run('webhooks disable', `${id} --yes`)
await recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
await run('webhooks enable', `${id} --yes`)
await run('replay', `--webhook ${id} --yes`)
await recruiting.drain()
const { data } = await run('deliveries list', `--webhook ${id} --status delivered`) as { data: unknown[] }
strictEqual(data.length, 2, 'the retry and the replay were delivered')
await run('reseal', '--secret-keys secret-keys --yes')
await run('webhooks test', `${id} --secret-keys secret-keys --allow-http --allow-networks 127.0.0.1/32 --yes`)
await run('grants', '--role postgres --no-lists')
await run('adopt', '--discard')
await run('subscriptions list', '--tenant acme')
await run('subscriptions end', '--tenant acme --principal key_1 --yes', 1)
await run('subjects find', 'candidate:1 --tenant acme')
await run('tenants rename', 'acme initech --secret-keys secret-keys --yes')
await run('tenants suspend', 'initech --yes')
await run('tenants suspended')
await run('tenants resume', 'initech --deliver --yes')
await run('prune', '--retention-days 1 --yes')
writeFileSync(join(folder, 'ids.json'), JSON.stringify({ initech: 43, imported: 44 }))
await run('webhooks disable-all', '--tenant imported --yes')
await run('webhooks delete', `${id} --yes`)
await run('webhooks delete-all', '--tenant imported --yes')
await run('tenants use-ids', 'ids.json --dry-run')
await run('tenants remove', 'initech --yes')

const bareMs = await measure(() => promisify(execFile)(process.execPath, ['-e', '0']))
const startMs = await measure(() => run('stats'))
const engineMs = await measure(() => run('webhooks failing'))
const allowedMs = longestStartMs * Math.max(1, bareMs / usualBareMs)
// check-demo.ts runs the demo, and listen and trigger with it, in a host without pg, and check-init.ts writes an ATS.
strictEqual(
  [...ran, 'demo', 'init', 'listen', 'trigger'].sort().join(),
  Object.keys(commands).sort().join(),
  'every command was run'
)
for (const ms of [startMs, engineMs]) {
  strictEqual(
    ms <= allowedMs,
    true,
    `a command takes ${Math.round(ms)} ms, expected ${Math.round(allowedMs)} at most, where node alone takes ${Math.round(bareMs)}`
  )
}
console.log(
  `every command of the tarball works: stats takes ${Math.round(startMs)} ms, webhooks failing ${Math.round(engineMs)}, node alone ${Math.round(bareMs)}`
)
await recruiting.close()
await new Promise((resolve) => endpoint.close(resolve))
for (const close of closers) await close()
