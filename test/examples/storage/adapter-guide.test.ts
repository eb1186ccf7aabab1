import { copyFile, readFile, readdir, writeFile } from 'node:fs/promises'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { request } from '../fixtures/request.js'
import { runExample } from '../fixtures/run-example.js'

// Some cases wait in real time.
t.jobs = 3

const run = promisify(execFile)
const guide = new URL('../../../docs/adapters.md', import.meta.url)
const folder = new URL('../../../examples/adapter/', import.meta.url)

t.test('the files of the guide are those that are compiled and run, all of them', async (t) => {
  const blocks = [...(await readFile(guide, 'utf8')).matchAll(/^`([\w.]+)`:\n\n```ts\n(.*?)^```$/gms)]
  t.strictSame(blocks.map(([, name]) => name).sort(), (await readdir(folder)).sort())
  for (const [, name = '', text] of blocks) t.equal(text, await readFile(new URL(name, folder), 'utf8'), name)
})

t.test('each step of the guide that runs the kit passes', async (t) => {
  await Promise.all(['kit.ts', 'lists.ts', 'keys.ts'].map(async (file) => {
    const example = runExample(t, `adapter/${file}`)
    await example.output(/All \d+ cases passed\./)
    t.equal(await example.exit(), 0, file)
  }))
})

t.test('the server of the guide finds a candidate', async (t) => {
  const example = runExample(t, 'adapter/server.ts', { PORT: '0' })
  const [, origin = ''] = await example.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)
  const { body } = await request(`${origin}/api/v1/public/acme/candidates?filter[q]=COSTA`, { key: 'acme-secret-key' })

  t.strictSame(body, {
    data: [{ id: 1, full_name: 'Ana Costa', headline: 'Nurse', source_id: null }],
    meta: { page: 1, per_page: 25, total: 1, total_pages: 1 }
  })
  t.equal(await example.end('SIGTERM'), 0)
})

t.test('the cases run in the test runner of Node', async (t) => {
  const example = runExample(t, 'adapter/kit.test.ts')
  const [, passed, failed] = await example.output(/# pass (\d+)\n# fail (\d+)/)
  t.ok(Number(passed) > 150)
  t.equal(failed, '0')
})

t.test('the mistake of the guide gives the report of the guide', async (t) => {
  const text = await readFile(guide, 'utf8')
  const [, removed = '', added = ''] = /```diff\n- {4}(.*)\n\+ {4}(.*)\n```/.exec(text) ?? []
  const [, expected = ''] = /```\n(FAILED.*?)```/s.exec(text) ?? []
  const copy = t.testdir()
  for (const name of await readdir(folder)) await copyFile(new URL(name, folder), `${copy}/${name}`)
  const source = await readFile(`${copy}/candidates.ts`, 'utf8')
  t.ok(source.includes(removed))
  await writeFile(`${copy}/candidates.ts`, source.replace(removed, () => added))

  // With the coverage of this process: it is a storage that lacks what is optional.
  const { stdout } = await run(process.execPath, ['--import', 'tsx', `${copy}/lists.ts`])
  for (const part of expected.split('…')) t.ok(stdout.includes(part.trim()), part)
})
