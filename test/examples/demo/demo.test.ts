import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import t from 'tap'
import { request } from '../fixtures/request.js'
import { type RunningExample, runExample } from '../fixtures/run-example.js'

// Each test mostly waits for a process to start.
t.jobs = 4

const run = promisify(execFile)
const freePorts = { PORT: '0', RECEIVER_PORT: '0' }
const key = 'acme-read-only'

async function readApiUrl (demo: RunningExample): Promise<string> {
  const [, url = ''] = await demo.output(/The API +(http:\/\/127\.0\.0\.1:\d+\/api\/v1\/public)/)
  return url
}

t.test('a demo in which little happens', { buffered: true }, async (t) => {
  const demo = runExample(t, 'demo/start.ts', { ...freePorts, EVERY_MS: '60000' })
  const acme = `${await readApiUrl(demo)}/acme`
  await demo.output(/receiver +acme +application\.created +verified, /)

  await t.test('a search finds names in any letter case, accents included', async (t) => {
    const { body } = await request(`${acme}/candidates?filter[q]=élodie`, { key })
    const { data } = body as { data: Array<{ full_name: string }> }

    t.ok(data.length >= 3)
    t.ok(data.every(({ full_name: name }) => name.startsWith('Élodie ')))
  })

  await t.test('a page links to the next one', async (t) => {
    const { body, headers } = await request(`${acme}/candidates?per_page=100&page=2`, { key })
    t.match(body, { data: { length: 100 }, meta: { page: 2, per_page: 100, total: 321, total_pages: 4 } })

    const [, next = ''] = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '') ?? []
    const { body: nextBody } = await request(new URL(next, acme).href, { key })
    t.match(nextBody, { data: { length: 100 }, meta: { page: 3, per_page: 100, total: 321, total_pages: 4 } })
  })

  await t.test('there are jobs in every status', async (t) => {
    const { body } = await request(`${acme}/jobs?per_page=200`, { key })
    const { data } = body as { data: Array<{ status: string }> }

    t.strictSame(
      new Set(data.map(({ status }) => status)),
      new Set(['draft', 'pending_approval', 'published', 'paused', 'filled', 'closed', 'archived'])
    )
  })

  await t.test('the OpenAPI document is where the welcome says', async (t) => {
    const [, url = ''] = await demo.output(/OpenAPI +(\S+)/)

    t.match(await request(url), { status: 200, body: { openapi: /^3\.1/ } })
  })

  await t.test('the welcome says that retries are shortened, and by how much', async (t) => {
    await demo.output(/Retries +Shortened for this demo: after 2, 3 and 6 seconds\.\n +By default, 9 retries take three days: after 5 s, 5 min, 30 min, 2 h and so on\.$/m)
    const [, schedule = ''] = /@default (\[0, .*\])/.exec(await readFile(new URL('../../../src/options/delivery.ts', import.meta.url), 'utf8')) ?? []
    const [, ...retries] = JSON.parse(schedule) as number[]
    t.match(retries, [5, 5 * 60, 30 * 60, 2 * 3600])
    t.equal(retries.length, 9)
    t.equal(Math.round(retries.reduce((sum, seconds) => sum + seconds) / 86_400), 3)
  })

  await t.test('every command that is printed gets the answer that is promised', async (t) => {
    const [welcome] = await demo.output(/Paste these[^]*The demo now simulates/)
    const commands = welcome.match(/^ {4}curl .*$/gm) ?? []
    const statuses: number[] = []
    for (const command of commands) {
      const { stdout } = await run('sh', ['-c', `${command} --silent --output /dev/null --write-out '%{http_code}'`])
      statuses.push(Number(stdout))
    }

    t.strictSame(statuses, [200, 200, 200, 200, 200, 400, 403, 401, 200, 200, 401, 200, 200, 202])
    await demo.output(/receiver +acme +application\.created \(test\) +verified, /)
    await demo.output(/receiver +acme +NOT verified, rejected: the headers webhook-id, webhook-timestamp and webhook-signature are missing/)
    await demo.output(/receiver +acme +application\.created +verified, .* duplicate, ignored/)
  })

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

t.test('a demo whose ports are in use says so and uses free ones', { buffered: true }, async (t) => {
  for (const port of [3000, 3001]) {
    const taken = createServer()
    t.teardown(() => taken.close())
    // Another program may already use it.
    await new Promise((resolve) => taken.once('listening', resolve).once('error', resolve).listen(port, '127.0.0.1'))
  }

  const demo = runExample(t, 'demo/start.ts', { EVERY_MS: '60000' })
  await demo.output(/^Port 3000 is in use\. The demo uses a free port instead\. To choose one, set PORT\.$/m)
  await demo.output(/^Port 3001 is in use\. The demo uses a free port instead\. To choose one, set RECEIVER_PORT\.$/m)
  const url = await readApiUrl(demo)
  t.not(new URL(url).port, '3000')
  t.match(await request(`${url}/acme/candidates`, { key }), { status: 200 })
  await demo.output(/receiver +acme +application\.created +verified, /)
  t.equal(await demo.end('SIGTERM'), 0)
})

t.test('a requested port that is in use ends the demo with a message that says what to do', { buffered: true }, async (t) => {
  const taken = createServer()
  t.teardown(() => taken.close())
  await once(taken.listen(0, '127.0.0.1'), 'listening')
  const port = String((taken.address() as AddressInfo).port)

  await Promise.all([{ ...freePorts, PORT: port }, { ...freePorts, RECEIVER_PORT: port }].map(async (ports) => {
    const demo = runExample(t, 'demo/start.ts', ports)
    await demo.output(new RegExp(`^Port ${port} is in use\\. Choose other ports: PORT=4000 RECEIVER_PORT=4001 npm run demo$`, 'm'))
    t.equal(await demo.exit(), 1)
  }))
})

t.test('a port that is none ends the demo with a message that names it', { buffered: true }, async (t) => {
  const demo = runExample(t, 'demo/start.ts', { PORT: 'http' })

  await demo.output(/^PORT: expected a number, got "http"$/m)
  t.equal(await demo.exit(), 1)
})
