// Uses an ATS written by `init` according to its README, on the current Node.js. Its dependencies are installed.
//
// tsx scripts/check-init.ts FOLDER

import { match, strictEqual } from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'

const [, , folder = '.'] = process.argv
const patienceMs = 120_000
const { DATABASE_URL: _, ...environment } = process.env
const settings = { cwd: folder, env: { ...environment, PORT: '0' }, timeout: patienceMs }
const run = async (line: string): Promise<string> => (await promisify(execFile)('sh', ['-c', line], settings)).stdout

// A separate process group, which gets signals like a terminal's foreground group.
const server = spawn('npm', ['start'], { ...settings, detached: true, stdio: ['ignore', 'pipe', 'inherit'] })
const ended = once(server, 'exit')
const stop = (signal: NodeJS.Signals): unknown => process.kill(-Number(server.pid), signal)
try {
  let output = ''
  server.stdout.setEncoding('utf8').on('data', (chunk: string) => { output += chunk })
  while (server.exitCode === null && !output.includes('doctor\n')) {
    await Promise.race([once(server.stdout, 'data'), ended])
  }
  const [list = '', follow = '', hire = ''] = output.match(/curl .*/g) ?? []
  match(await run(list), /"Ada Lovelace"/, output)
  match(await run(hire), /"stage":"hired"/, output)
  match(await run(follow), /"stage":"hired"/, output)
  const [, page = ''] = /^Settings page +(\S+),/m.exec(output) ?? []
  match(await run(`curl --fail ${page}`), /<iframe title="Webhooks"/)
  match(await run(/npx .* doctor$/m.exec(output)?.[0] ?? 'false'), /^ok +schema /m)
} finally {
  stop('SIGINT')
}
await ended
// Its PostgreSQL stopped with it.
const port = Number(/^POSTGRES_PORT=(\d+)$/m.exec(await readFile(join(folder, '.env'), 'utf8'))?.[1])
const [rejected] = await once(connect(port, '127.0.0.1'), 'connect').then(() => [null], (error) => [error.code])
strictEqual(rejected, 'ECONNREFUSED')
await run('npm test')
await run('npm run types')
console.log(`an ATS written by init works on Node.js ${process.version}`)
