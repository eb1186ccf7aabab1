import { readFile, readdir } from 'node:fs/promises'
import t from 'tap'
import { request } from './fixtures/request.js'
import { runExample } from './fixtures/run-example.js'

const files = new URL('../../examples/demo/page/', import.meta.url)

/** Every file of the page, by its path below the folder. */
async function listFiles (): Promise<string[]> {
  return (await readdir(files, { recursive: true })).filter((name) => name.includes('.'))
}

t.test('the files of the demo page name no other host', async (t) => {
  for (const name of await listFiles()) {
    const text = await readFile(new URL(name, files), 'utf8')
    t.notMatch(text.replace('xmlns="http://www.w3.org/2000/svg"', '').replace("'http://www.w3.org/2000/svg'", ''), /https?:\/\/|["'(]\/\//, name)
  }
})

t.test('what the demo page is made of is served', async (t) => {
  const demo = runExample(t, 'demo/start.ts', { PORT: '0', RECEIVER_PORT: '0', EVERY_MS: '99999' })
  const [, origin = ''] = await demo.output(/Open this +(http:\/\/127\.0\.0\.1:\d+)\//)
  await demo.output(/receiver +acme +application\.created +verified/)

  await t.test('its files, with a policy by which the browser asks for nothing elsewhere', async (t) => {
    for (const name of ['', ...await listFiles()]) {
      const { status, headers } = await fetch(`${origin}/${name}`)
      t.same([status, headers.get('content-security-policy')], [200, "default-src 'self'"], name)
    }
  })

  await t.test('a feed of what has happened and what happens, from where a reader was', async (t) => {
    const first = await readFeed(`${origin}/demo/feed`, /caught-up/)
    t.match(first, /"kind":"news".*is new here/)
    t.match(first, /"kind":"arrival".*"eventType":"application\.created".*"isVerified":true.*"status":204/)
    t.match(first, /"kind":"attempt".*"attempt":1/)
    const [id = ''] = [...first.matchAll(/^id: (\d+)$/gm)].map(([, number]) => number).slice(-1)
    const later = readFeed(`${origin}/demo/feed`, /"isVerified":false/, { 'last-event-id': id })
    t.match(await request(`${origin}/demo/receiver/forge`, { body: { path: 'acme' } }), { status: 200, body: { status: 401 } })
    t.notMatch(await later, /is new here/)
  })

  await t.test('buttons of the ATS say what has happened, and others do not exist', async (t) => {
    t.match(await request(`${origin}/demo/happen/acme/application`, { body: {} }), { status: 200, body: { sentence: /is new here/ } })
    t.match(await request(`${origin}/demo/happen/acme/hire`, { body: {} }), { status: 200, body: { sentence: /is hired/ } })
    for (const path of ['acme/nothing', 'nobody/hire']) {
      t.match(await request(`${origin}/demo/happen/${path}`, { body: {} }), { status: 404, body: { sentence: 'There is no such button' } })
    }
  })

  t.equal(await demo.end('SIGTERM'), 0)
})

/** Reads a stream of events until it has said something. */
async function readFeed (url: string, pattern: RegExp, headers: Record<string, string> = {}): Promise<string> {
  const { body } = await fetch(url, { headers, signal: AbortSignal.timeout(20_000) })
  let text = ''
  for await (const chunk of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    text += chunk
    if (pattern.test(text)) return text
  }
  throw new Error(`the feed ended with ${text}`)
}
