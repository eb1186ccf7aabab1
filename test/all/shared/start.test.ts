import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { compiled } from '../../fixtures/program.js'

/** Returns the packages that a server loads. */
async function loadedBy (...args: string[]): Promise<string[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [compiled('test/fixtures/start.program.ts'), ...args], { timeout: 60_000 })
  return JSON.parse(stdout)
}

t.test('a server that does not deliver does not load undici', async (t) => {
  const loaded = await loadedBy()
  t.ok(loaded.includes('fastify'))
  t.notOk(loaded.includes('undici'))
})

t.test('a server that delivers loads undici before the first request to an endpoint', async (t) => {
  t.ok((await loadedBy('delivers')).includes('undici'))
})
