import t from 'tap'
import { runExample } from '../fixtures/run-example.js'

t.test('the reference page is served with its files, and with the address of the document in its settings', async (t) => {
  const example = runExample(t, '07-reference-page.ts', { PORT: '0' })
  const [, origin = ''] = await example.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)
  const read = async (path: string): Promise<string> => {
    const answer = await fetch(new URL(path, `${origin}/reference/`))
    t.equal(answer.status, 200, path)
    return answer.text()
  }

  const html = await read('')
  const files = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file = '']) => file)
  t.same(files, ['swagger-ui.css', 'favicon-32x32.png', 'swagger-ui-bundle.js', 'settings.js'])
  for (const file of files) {
    t.match(file, /^[\w./-]+$/, `${file} is on the same host`)
    await read(file)
  }
  const settings = await read('settings.js')
  const [, document = ''] = /url: '([^']+)'/.exec(settings) ?? []
  t.match(JSON.parse(await read(document)), { openapi: '3.1.0' })
  const { url, status } = await fetch(`${origin}/reference`)
  t.same([url, status], [`${origin}/reference/`, 200], 'the address works without its slash')
  t.equal(await example.end('SIGTERM'), 0)
})
