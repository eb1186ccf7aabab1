// Runs the installed demo, and an agent that gets an event about a hire, is killed, misses 100 hires, and catches up.
//
// node check-agent.mjs

import { deepStrictEqual } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const patienceMs = 120_000
const state = join(mkdtempSync(join(tmpdir(), 'agent-')), 'state.json')

/** Starts a program; `read` resolves once its output has a match, with all matches. */
function start (file, args, env) {
  const child = spawn(process.execPath, [file, ...args], {
    env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit']
  })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (chunk) => { output += chunk })
  return {
    async read (pattern, count = 1) {
      for (const endsAt = Date.now() + patienceMs; Date.now() < endsAt;) {
        const found = [...output.matchAll(pattern)].map((match) => match[1])
        if (found.length >= count) return found
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      throw new Error(`expected ${count} times ${pattern} in:\n${output}`)
    },
    stop (signal) { child.kill(signal); return exited }
  }
}

const port = await new Promise((resolve) => {
  const server = createServer().listen(0, '127.0.0.1', () => {
    const { port } = server.address()
    server.close(() => resolve(port))
  })
})
const program = 'node_modules/fastify-recruiting-api/dist/tools/cli/bin.js'
const demo = start(program, ['demo', '--port', '0', '--receiver-port', '0'], { EVERY_MS: '60000' })
const [page] = await demo.read(/Open this +(\S+)\//g)
const post = async (path, body) => {
  const response = await fetch(`${page}/demo/${path}`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body)
  })
  if (!response.ok) throw new Error(`${path} got ${response.status}`)
}
await post('background', { isPaused: true })
const key = 'acme-full-access'
const startAgent = () =>
  start('24-agent.mjs', [state, String(port)], { MCP_URL: `${page}/api/v1/public/acme/mcp`, API_KEY: key })

let agent = startAgent()
await agent.read(/^(subscribed), truncated: false$/gm)
await post('happen/acme/hire', {})
const [first] = await agent.read(/^hired (\d+)$/gm)
await agent.stop('SIGKILL')

for (let count = 0; count < 100; count++) await post('happen/acme/hire', {})
agent = startAgent()
await agent.read(/^(subscribed), truncated: false$/gm)
const caughtUp = await agent.read(/^hired (\d+)$/gm, 100)
const feed = await fetch(`${page}/api/v1/public/acme/events?per_page=200&filter[event_type]=application.hired`, {
  headers: { authorization: `Bearer ${key}` }
})
const { data } = await feed.json()
deepStrictEqual([first, ...caughtUp].map(Number).sort((one, other) => one - other),
  data.map((event) => event.data.id).sort((one, other) => one - other))
await agent.stop('SIGTERM')
await demo.stop('SIGTERM')
console.log('an agent of the AI SDK that missed 100 events got each of them once')
