// Runs the packed tarball's demo and the commands for customers, installed in the folder of a host with only Fastify.
//
// tsx scripts/check-demo.ts FOLDER

import { match, strictEqual } from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'

const [, , folder = '.'] = process.argv
const patienceMs = 60_000

const program = join(folder, 'node_modules/fastify-recruiting-api/dist/tools/cli/bin.js')
// Other commands use DATABASE_URL. The demo must not: it runs in memory.
const env = { ...process.env, DATABASE_URL: 'postgres://127.0.0.1:1/none', EVERY_MS: '60000' }
const child = spawn(process.execPath, [program, 'demo', '--port', '0', '--receiver-port', '0'], {
  cwd: folder,
  env,
  stdio: ['ignore', 'pipe', 'inherit']
})
const ended = once(child, 'exit')
const timer = setTimeout(() => child.kill('SIGKILL'), patienceMs)
let output = ''
child.stdout.setEncoding('utf8').on('data', (chunk: string) => { output += chunk })
while (child.exitCode === null && !/receiver +acme +application\.created +verified/.test(output)) {
  await Promise.race([once(child.stdout, 'data'), ended])
}
const [, url = ''] = /Open this +(\S+)/.exec(output) ?? []
match(url, /^http:/, output)

const page = await (await fetch(url)).text()
for (const [, path = ''] of page.matchAll(/(?:href|src)="((?:styles|scripts)\/[^"]+|icon\.svg)"/g)) {
  strictEqual((await fetch(new URL(path, url))).status, 200, path)
}
const { hasReferencePage } = await (await fetch(new URL('demo/setting', url))).json() as { hasReferencePage: boolean }
strictEqual(hasReferencePage, false)
strictEqual((await fetch(new URL('api/v1/public/portal/', url))).status, 200)

// A customer's developer receives the demo's events on an unreachable machine.
const service = { RECRUITING_URL: new URL('api/v1/public/acme', url).href, RECRUITING_API_KEY: 'acme-full-access' }
const endpoint = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(204).end())
})
await once(endpoint.listen(0, '127.0.0.1'), 'listening')
const receiver = ['--forward', `http://localhost:${(endpoint.address() as AddressInfo).port}/hooks`]
const listening = spawn(process.execPath, [program, 'listen', '--from-oldest', ...receiver], {
  cwd: folder,
  env: { ...env, ...service },
  stdio: ['ignore', 'pipe', 'inherit']
})
const listened = once(listening, 'exit')
let lines = ''
listening.stdout.setEncoding('utf8').on('data', (chunk: string) => { lines += chunk })
while (listening.exitCode === null && !/application\.created +evt_\w+ +204/.test(lines)) {
  await Promise.race([once(listening.stdout, 'data'), listened])
}
listening.kill('SIGINT')
strictEqual((await listened)[0], 0, lines)
const triggerEnv = { ...env, ...service, RECRUITING_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 1).toString('base64')}` }
const { stdout } = await promisify(execFile)(process.execPath, [program, 'trigger', 'job.created', ...receiver], {
  cwd: folder,
  env: triggerEnv
})
match(stdout, /^status +delivered$/m)
endpoint.close()

child.kill('SIGTERM')
strictEqual((await ended)[0], 0)
clearTimeout(timer)
console.log(`the demo of the tarball runs on Node.js ${process.version}`)
