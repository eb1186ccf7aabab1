import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { get } from 'node:http'
import { promisify } from 'node:util'
import t from 'tap'
import { request } from '../../fixtures/examples/request.js'
import { runExample, type RunningExample } from '../../fixtures/examples/run-example.js'
import { startPostgres } from '../../fixtures/postgres/postgres-server.js'

const run = promisify(execFile)
const freePorts = { PORT: '0', RECEIVER_PORT: '0' }
const key = 'acme-read-only'

async function readApiUrl (demo: RunningExample): Promise<string> {
  const [, url = ''] = await demo.output(/The API +(http:\/\/127\.0\.0\.1:\d+\/api\/v1\/public)/)
  return url
}

// Each test mostly waits for a process to start.
t.test('the demo', { jobs: 4 }, async (t) => {
  t.test('every printed command gets the expected response', { buffered: true }, async (t) => {
    const demo = runExample(t, 'demo/start.ts', { ...freePorts, EVERY_MS: '60000' })
    await demo.output(/receiver +acme +application\.created +verified, /)

    const [welcome] = await demo.output(/Paste these[^]*The demo now simulates/)
    const commands = welcome.match(/^ {4}curl .*$/gm) ?? []
    const statuses: number[] = []
    for (const command of commands) {
      const { stdout } = await run('sh', ['-c', `${command} --silent --output /dev/null --write-out '%{http_code}'`])
      statuses.push(Number(stdout))
    }

    t.strictSame(statuses, [200, 200, 200, 200, 200, 400, 403, 401, 200, 200, 401, 200, 200, 202])
    await demo.output(/receiver +acme +application\.created \(test\) +verified, /)
    await demo.output(
      /receiver +acme +NOT verified, rejected: the headers webhook-id, webhook-timestamp and webhook-signature are missing/
    )
    await demo.output(/receiver +acme +application\.created +verified, .* duplicate, ignored/)

    t.equal(await demo.end('SIGTERM'), 0)
  })

  t.test('changes in the demo appear in the list, and the receiver verifies their events', { buffered: true }, async (t) => {
    const demo = runExample(t, 'demo/start.ts', { ...freePorts, EVERY_MS: '50' })
    const acme = `${await readApiUrl(demo)}/acme`

    const [, id] = await demo.output(/ats +acme .* \(new candidate (\d+)\) applied for/)
    const { body } = await request(`${acme}/candidates?sort=-id&per_page=200`, { key })
    t.ok((body as { data: Array<{ id: number }> }).data.some((candidate) => candidate.id === Number(id)))

    const types = [
      'candidate\\.created', 'candidate\\.updated', 'job\\.published', 'job\\.closed', 'application\\.created',
      'application\\.stage_changed', 'application\\.hired', 'application\\.rejected'
    ]
    for (const tenant of ['acme', 'globex']) {
      for (const type of types) await demo.output(new RegExp(`receiver +${tenant} +${type} +verified, `))
    }
    const [output] = await demo.output(/^[^]*returned 500 on purpose[^]*warning: .* \(500, attempt 1, next in \d\.\d s\) evt_/)
    t.notMatch(output, /NOT verified|action failed/)
    t.equal(await demo.end('SIGINT'), 0)
    await demo.output(/^Closed$/m)
  })
})

const files = new URL('../../../examples/demo/page/', import.meta.url)

t.test('the files of the demo page are served', async (t) => {
  const demo = runExample(t, 'demo/start.ts', { PORT: '0', RECEIVER_PORT: '0', EVERY_MS: '99999' })
  const [, origin = ''] = await demo.output(/Open this +(http:\/\/127\.0\.0\.1:\d+)\//)
  await demo.output(/receiver +acme +application\.created +verified/)

  await t.test('with a policy that allows requests only to its own origin', async (t) => {
    t.equal((await fetch(`${origin}/..%2fstart.ts`)).status, 404)
    for (const name of ['', ...(await readdir(files, { recursive: true })).filter((path) => path.includes('.'))]) {
      const { status, headers } = await fetch(`${origin}/${name}`)
      t.same([status, headers.get('content-security-policy')], [200, "default-src 'self'"], name)
    }
  })

  await t.test('a reset restores the initial data on the same ports', async (t) => {
    const candidates = `${origin}/api/v1/public/globex/candidates`
    await request(`${origin}/demo/happen/globex/application`, { body: {} })
    t.match(await request(candidates, { key: 'globex-read-only' }), { body: { meta: { total: 141 } } })
    t.equal((await request(`${origin}/demo/reset`, { body: {} })).status, 200)
    await demo.output(/demo +Reset: everything is as it was at the start/)
    t.match(await request(candidates, { key: 'globex-read-only' }), { body: { meta: { total: 140 } } })
    await demo.output(/as at the start[^]*receiver +acme +application\.created +verified/)
  })

  t.equal(await demo.end('SIGTERM'), 0)
})

t.test('the demo runs on PostgreSQL', async (t) => {
  const { url, createPool } = await startPostgres(t)
  const demo = runExample(t, 'demo/start.ts', { PORT: '0', RECEIVER_PORT: '0', EVERY_MS: '500', DATABASE_URL: url })
  const [, api = ''] = await demo.output(/The API +(http:\/\/127\.0\.0\.1:\d+\/api\/v1\/public)/)
  await demo.output(/receiver +acme +application\.created +verified, /)

  t.match((await request(`${api}/acme/candidates?filter[q]=élodie`, { key })).body, { data: [{ full_name: /^Élodie / }] })
  const { body: { token } } = await request<{ token: string }>(new URL('/demo/portal/session', api).href, {
    body: { tenant: 'acme', actor: 'reader', locale: 'en' }
  })
  t.match((await request(`${api}/acme/webhooks`, { key: token })).body, { data: [{ name: 'Demo receiver' }] })
  const { rows } = await createPool().query("select from recruiting_demo.deliveries where status = 'delivered'")
  t.ok(rows.length > 0)
  t.equal(await demo.end('SIGINT'), 0)
})

t.test('the demo answers no request for another name, which a site could point to this machine', async (t) => {
  const demo = runExample(t, 'demo/start.ts', { PORT: '0', RECEIVER_PORT: '0', EVERY_MS: '99999' })
  const { port } = new URL(await readApiUrl(demo))
  const send = (host: string, path: string) => new Promise<number | undefined>((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, headers: { host } }, (response) => {
      response.resume()
      resolve(response.statusCode)
    }).on('error', reject)
  })
  for (const path of ['/', '/demo/setting', '/api/v1/public/acme/jobs', '/nowhere']) {
    t.equal(await send(`evil.example:${port}`, path), 421, path)
  }
  t.equal(await send(`localhost:${port}`, '/demo/setting'), 200)
})
