import t from 'tap'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Returns the packages that a server has loaded: when it is ready, or once `condition` holds. */
async function loadedBy (delivery: boolean, condition: string): Promise<string[]> {
  const script = `
    import { createRequire } from 'node:module'
    import { setTimeout as sleep } from 'node:timers/promises'
    import Fastify from 'fastify'
    import { recruitingApi } from './src/index.ts'
    import { memoryKeyLookup, memoryStorage } from './src/memory/index.ts'

    const { cache } = createRequire(import.meta.url)
    const names = () => Object.keys(cache).map((path) => /.*node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(path)?.[1])
    const app = Fastify()
    await app.register(recruitingApi, { storage: memoryStorage(), keyLookup: memoryKeyLookup([]), delivery: ${delivery ? '{}' : 'false'} })
    await app.ready()
    while (!(${condition})) await sleep(10)
    await app.close()
    console.log(JSON.stringify([...new Set(names())]))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--import=./test/fixtures/loader/register.js', '--input-type=module', '-e', script], { timeout: 60_000 })
  return JSON.parse(stdout)
}

t.test('a server that does not deliver has not loaded undici', async (t) => {
  const loaded = await loadedBy(false, 'true')
  t.ok(loaded.includes('fastify'))
  t.notOk(loaded.includes('undici'))
})

t.test('a server that delivers loads undici before the first request to an endpoint', async (t) => {
  t.ok((await loadedBy(true, "names().includes('undici')")).includes('undici'))
})
