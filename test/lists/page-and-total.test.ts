import t from 'tap'
import { setTimeout as sleep } from 'node:timers/promises'
import { memoryStorage } from '../../src/memory/index.js'
import { checkError } from '../fixtures/api/answers.js'
import { bearer, buildApp, keys, tenants } from '../fixtures/api/app.js'
import { captureLogs } from '../fixtures/api/logs.js'

const request = { url: '/api/v1/public/acme/candidates', headers: bearer(keys.full) }

t.test('a page and its total are requested concurrently, the total first', async (t) => {
  const storage = memoryStorage({ tenants })
  const asked: string[] = []
  let answer = (): void => {}
  const bothAsked = new Promise<void>((resolve) => { answer = resolve })
  for (const method of ['list', 'count'] as const) {
    const real = storage.candidates[method].bind(storage.candidates) as (...args: unknown[]) => Promise<unknown>
    Object.assign(storage.candidates, {
      [method]: async (...args: unknown[]) => {
        if (asked.push(method) === 2) answer()
        await bothAsked
        return real(...args)
      }
    })
  }
  const app = await buildApp(t, { storage })
  const { statusCode } = await app.inject(request)
  t.equal(statusCode, 200)
  t.same(asked, ['count', 'list'])
})

const failures: Record<string, (error: Error) => Promise<never>> = {
  'throws at once': (error) => { throw error },
  'rejects at once': (error) => Promise.reject(error),
  'rejects later': async (error) => {
    await sleep(20)
    throw error
  }
}

t.test('if a page and its total both fail the answer is 500, one of the two is logged, and the process goes on', async (t) => {
  const unhandled: unknown[] = []
  const note = (error: unknown): void => { unhandled.push(error) }
  process.on('unhandledRejection', note)
  t.teardown(() => process.off('unhandledRejection', note))
  for (const [pageFails, failPage] of Object.entries(failures)) {
    for (const [totalFails, failTotal] of Object.entries(failures)) {
      const logs = captureLogs()
      const storage = memoryStorage({ tenants })
      storage.candidates.list = () => failPage(new Error('no page'))
      storage.candidates.count = () => failTotal(new Error('no total'))
      const app = await buildApp(t, { storage, server: { logger: logs.logger } })
      const what = `the page ${pageFails}, the total ${totalFails}`
      checkError(t, await app.inject(request), 500, what)
      const expected = totalFails === 'throws at once' ? 'no total' : 'no page'
      t.same(logs.lines.filter(({ level }) => level === 50).map(({ err }) => err?.message), [expected], what)
    }
  }
  await sleep(50)
  t.same(unhandled, [])
})
