import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { mock } from 'node:test'
import pg from 'pg'
import t, { type Test } from 'tap'
import { commands } from '../../src/tools/cli/commands.js'
import { apiKeys } from '../../src/storages/postgres/index.js'
import { withProgress } from '../../src/tools/cli/terminal.js'
import { type Outcome, startCliHost } from '../fixtures/cli/cli.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'

const marks = '\u202e\u2066\u2069\u200f\u061c\u200b\ufeff\u2028\u2029\u{e0041}'
const controls = '\u001b]0;x\u0007\u009b31m\u0085\u007f\r\nforged'
const evil = `a${marks}b`
const worse = `${evil}${controls}`
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

/** Asserts that the lines of a command's output contain no unprintable characters. */
function assertPrintable (t: Test, { out, err }: Outcome, name: string): void {
  const lines = `${out}${err}`.split('\n')
  t.strictSame(lines.filter((line) => unprintable.test(line)).map(encodeURIComponent), [], name)
  t.strictSame(lines.filter((line) => line.startsWith('forged')), [], name)
}

t.test('stored data and responses cannot manipulate the terminal', async (t) => {
  const { cli, pool, recruiting } = await startCliHost(t)
  const folder = t.testdir({})
  const path = join(folder, 'keys')
  await writeFile(path, Buffer.alloc(32, 1).toString('base64'))
  const importPath = join(folder, 'webhooks.json')
  const imported = {
    tenant: worse, name: worse, target_url: worse, event_types: [worse], endpoint: worse, secret: worse
  }
  await writeFile(importPath, JSON.stringify([imported]))
  const idsPath = join(folder, 'ids.json')
  await writeFile(idsPath, JSON.stringify({ [evil]: `${evil}-id`, acme: 41 }))
  const input = { target_url: 'https://example.com/', event_types: ['application.created'] }
  const { id } = await recruiting.webhooks.create(evil, { name: evil, ...input })
  await recruiting.webhooks.create('acme', { name: 'CRM', ...input })
  await recruiting.emit({ tenantSlug: evil, type: 'application.created', data: { headline: evil }, subject: 'candidate:42' })
  const { id: keyId } = await apiKeys(pool).issue({ tenantSlug: evil, scopes: ['jobs:read'], name: evil, createdBy: evil })
  await pool.query(`
    create role "${evil}";
    create table public."x${evil}" (tenant_slug text);
    create view public.api_jobs as select * from public."x${evil}"`)
  // The API rejects some of these texts, but a host can write them to the tables.
  await pool.query('update recruiting.webhooks set name = $1, target_url = $2, event_types = $3 where tenant_slug = $4',
    [worse, `https://example.com/${worse}`, ['application.created', worse], evil])
  await pool.query('update recruiting.events set id = $1, type = $2', [`evt_${marks}`, worse])
  await pool.query('update recruiting.api_keys set name = $1, creator_id = $1, scopes = $2, start = $1', [worse, [worse]])
  await pool.query('update recruiting.queue set attempts = $1', [JSON.stringify([{
    started_at: '2030-01-01T00:00:00.000Z', duration_ms: 1, response_status: 500, error: 'http_status', response_excerpt: worse
  }])])
  await pool.query(`insert into recruiting.webhook_health (webhook_id, revision, failing_since, failed_deliveries, is_warned, last_error)
    select id, revision, now(), 3, false, $2 from recruiting.webhooks where id = $1`, [id, worse])
  const { data: [delivery] } = JSON.parse((await cli(`deliveries list --webhook ${id} --json`)).out)

  // A service with equally hostile responses.
  const service = await startReceiver(t)
  const data = { headline: worse }
  const hostile = { id: worse, type: worse, timestamp: worse, tenant_slug: worse, data, name: worse, example: data }
  const meta = { next_token: worse, has_more: false }
  service.answer({ status: 200, body: JSON.stringify({ data: [hostile], meta }) })
  const customer = ['--url', `http://127.0.0.1:${service.port}/acme`, '--key', 'rk_1', '--forward', service.url]

  // Other commands with an argument get the webhook's id.
  const lines: Record<string, readonly string[]> = {
    demo: [`--port=${evil}`],
    init: [join(folder, evil)],
    listen: [...customer, '--replay', worse],
    trigger: [worse, ...customer, '--secret', `whsec_${Buffer.alloc(32, 1).toString('base64')}`],
    watch: ['--kind', 'job', '--relation', `public."x${evil}"`, '--id', evil, '--tenant', evil],
    grants: ['--role', evil, '--jobs', `public."x${evil}"`, '--candidates', 'public.api_jobs'],
    doctor: ['--wait-seconds', '0', '--jobs', `public."x${evil}"`],
    'keys issue': ['--tenant', evil, '--scopes', `jobs:read,${worse}`, '--candidate-fields', worse, '--out', '/nowhere/key'],
    'keys import': [importPath],
    'keys list': ['--tenant', evil],
    'keys rotate': [keyId, '--tenant', evil, '--out', '/nowhere/key'],
    'subscriptions list': ['--tenant', evil],
    'subscriptions end': ['--tenant', evil, '--principal', evil],
    'webhooks list': ['--tenant', evil],
    'webhooks import': [importPath],
    'deliveries list': ['--webhook', String(id)],
    'deliveries show': [String(delivery.id), '--webhook', String(id), '--body'],
    'deliveries explain': [worse, '--webhook', String(id)],
    'deliveries retry': [String(delivery.id), '--webhook', String(id)],
    replay: ['--webhook', String(id), '--include', 'all', '--since', evil],
    'subjects find': ['candidate:42', '--tenant', evil],
    'keys revoke': [keyId, '--tenant', evil],
    'tenants suspend': [evil],
    'tenants resume': [evil, '--deliver'],
    'tenants rename': [evil, `${evil}2`],
    adopt: ['--discard', '--environment', evil],
    stats: ['--schema', worse],
    prune: ['--retention-days', worse],
    reseal: ['--secret-keys', path],
    'tenants remove': [`${evil}2`],
    'tenants use-ids': [idsPath, '--dry-run'],
    'webhooks delete': [String(id)],
    'webhooks disable-all': ['--tenant', evil],
    'webhooks delete-all': ['--tenant', evil]
  }
  t.teardown(() => pool.query(`drop owned by "${evil}"; drop role "${evil}"`))
  const missing = Object.entries(commands).filter(([name]) => !Object.hasOwn(lines, name))
  const others = missing.map(async ([name, { load }]) =>
    [name, (await load()).args === undefined ? [] : [String(id)]] as const)
  for (const [name, argv] of [...await Promise.all(others), ...Object.entries(lines)]) {
    const words = [...name.split(' '), ...argv]
    assertPrintable(t, await cli(words, { answers: ['n'] }), name)
    assertPrintable(t, await cli([...words, '--json', '--yes']), `${name} --json`)
  }

  await t.test("the server's error is one line", async (t) => {
    await pool.query(`create function recruiting.reject () returns trigger language plpgsql as $$ begin raise exception using message = ${pg.escapeLiteral(worse)}; end $$`)
    await pool.query('create trigger reject before update on recruiting.webhooks for each row execute function recruiting.reject()')
    const { id: other } = (await recruiting.webhooks.list('acme')).data[0] ?? { id: 0 }
    const outcome = await cli(`webhooks disable ${other} --yes`)
    t.match(outcome, { code: 1, err: /\nwebhooks disable: a\ufffd.*b.*forged\n$/ })
    assertPrintable(t, outcome, 'an error')
    await pool.query('drop trigger reject on recruiting.webhooks')
  })
})

t.test('progress', async (t) => {
  let now = 0
  t.beforeEach(() => {
    now = 0
    mock.timers.enable({ apis: ['setInterval'] })
    mock.method(performance, 'now', () => now)
  })
  t.afterEach(() => {
    mock.timers.reset()
    mock.restoreAll()
  })

  function pass (ms: number): void {
    now += ms
    mock.timers.tick(250)
  }

  t.test('is shown on a terminal after a second, and removed at the end', async (t) => {
    let shown = ''
    const result = await withProgress({ showsProgress: true, err: (text) => { shown += text } }, 'pruning', async (report) => {
      pass(999)
      t.equal(shown, '')
      pass(1)
      t.equal(shown, '\r\u001b[Kpruning: 1 s')
      report('5000 rows')
      pass(2000)
      t.equal(shown, '\r\u001b[Kpruning: 1 s\r\u001b[Kpruning: 5000 rows, 3 s')
      return 5
    })
    t.equal(result, 5)
    t.ok(shown.endsWith('3 s\r\u001b[K'))
    pass(5000)
    t.ok(shown.endsWith('3 s\r\u001b[K'), 'the timer is cleared')
  })

  t.test('is not shown for a short task or without a terminal', async (t) => {
    for (const showsProgress of [true, false]) {
      let shown = ''
      await t.rejects(withProgress({ showsProgress, err: (text) => { shown += text } }, 'pruning', async () => {
        pass(showsProgress ? 500 : 60_000)
        throw new Error('failed')
      }), { message: 'failed' })
      t.equal(shown, '')
    }
  })
})
