// Follows the README's quick start with the packed tarball, installed in a host's folder, on the current Node.js.
//
// tsx scripts/check-quick-start.ts FOLDER

import { strictEqual } from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'

const [, , folder = '.'] = process.argv
const patienceMs = 60_000
const running: ChildProcess[] = []

/** Starts a program of the quick start, and resolves with the first match in its output. */
async function start (
  file: string,
  pattern: RegExp,
  env: Record<string, string>
): Promise<{ match: RegExpExecArray; output(pattern: RegExp): Promise<RegExpExecArray> }> {
  const child = spawn(process.execPath, ['--import', 'tsx', file], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  running.push(child)
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
  }
  const output = async (pattern: RegExp): Promise<RegExpExecArray> => {
    const signal = AbortSignal.timeout(patienceMs)
    for (;;) {
      const match = pattern.exec(text)
      if (match !== null) return match
      await once(child.stdout, 'data', { signal }).catch(() => {
        throw new Error(`${file}: no ${pattern} in its output:\n${text}`)
      })
    }
  }
  return { match: await output(pattern), output }
}

async function findFreePort (): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

async function request (url: string, body?: object): Promise<{ status: number, body: unknown }> {
  const headers = {
    authorization: 'Bearer acme-secret-key',
    ...(body === undefined ? {} : { 'content-type': 'application/json' })
  }
  const response = await fetch(url, {
    headers,
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) })
  })
  return { status: response.status, body: await response.json() }
}

try {
  const {
    match: [, origin = '']
  } = await start('server.mts', /listening at (http:\/\/127\.0\.0\.1:\d+)/, { PORT: '0' })
  const api = `${origin}/api/v1/public/acme`
  const { body: candidates } = await request(`${api}/candidates?filter[q]=ada`)
  strictEqual((candidates as { meta: { total: number } }).meta.total, 1)
  const port = await findFreePort()
  const created = await request(`${api}/webhooks`, {
    name: 'My receiver',
    target_url: `http://127.0.0.1:${port}/`,
    event_types: ['application.created']
  })
  strictEqual(created.status, 201, JSON.stringify(created.body))
  const { data: { secret } } = created.body as { data: { secret: string } }
  const receiver = await start('receiver.mts', /listening/, { PORT: String(port), WEBHOOK_SECRET: secret })
  strictEqual((await fetch(`${origin}/apply`, { method: 'POST' })).status, 200)
  await receiver.output(/verified/)
  console.log(`the quick start works on Node.js ${process.version}`)
} finally {
  for (const child of running) child.kill()
}
