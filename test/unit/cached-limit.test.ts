import t from 'tap'
import { createCachedLimit, type Limit } from '../../src/shared/cached.js'
import { createManualClock } from '../fixtures/delivery/manual-clock.js'

function create (limit: Limit<string>, clock = createManualClock()) {
  return createCachedLimit(limit, { path: 'limits.max', minimum: 1, maximum: 100, clock })
}

t.test('a number is the limit of all', async (t) => {
  const find = create(5)
  t.strictSame([await find('a', 'a'), await find('b', 'b')], [5, 5])
})

t.test('a result counts for a minute from the beginning of the call, for its name', async (t) => {
  const clock = createManualClock()
  const asked: string[] = []
  const find = create((of) => asked.push(of), clock)
  t.strictSame([await find('a', 'first'), await find('a', 'second'), await find('b', 'third')], [1, 1, 2])
  await clock.advance(59_999)
  t.equal(await find('a', 'fourth'), 1)
  await clock.advance(1)
  t.strictSame([await find('a', 'fifth'), await find('a', 'sixth')], [3, 3])
  t.strictSame(asked, ['first', 'third', 'fifth'])
})

t.test('calls that come together ask once', async (t) => {
  let calls = 0
  const find = create(async () => { calls++; return 7 })
  t.strictSame(await Promise.all([find('a', ''), find('a', ''), find('a', '')]), [7, 7, 7])
  t.equal(calls, 1)
})

t.test('a failure reaches those who wait for it, names the option, and is not cached', async (t) => {
  let fails = true
  const thrown = new Error('no such plan')
  for (const limit of [() => { if (fails) throw thrown; return 9 }, async () => { if (fails) throw thrown; return 9 }] as Array<Limit<string>>) {
    fails = true
    const find = create(limit)
    for (const result of await Promise.allSettled([find('a', ''), find('a', '')])) {
      t.match(result, { status: 'rejected', reason: { message: 'limits.max: the function failed', cause: thrown } })
    }
    fails = false
    t.equal(await find('a', ''), 9)
  }
})

t.test('a result that is no integer of the range is refused', async (t) => {
  for (const [wrong, shown] of [
    [0, '0'], [101, '101'], [1.5, '1.5'], [Number.NaN, 'NaN'], [Number.POSITIVE_INFINITY, 'Infinity'], ['5', '"5"'], [null, 'null'], [undefined, 'undefined'], [{}, 'an object'], [5n, '5']
  ] as const) {
    for (const limit of [() => wrong, async () => wrong]) {
      await t.rejects(create(limit as never)('a', ''), { code: 'invalid_option', field: 'limits.max', message: `limits.max: expected a function that returns an integer from 1 to 100, got ${shown}` })
    }
  }
})

t.test('a function that hangs is given up after 5 seconds, and called again later', async (t) => {
  const clock = createManualClock()
  let answer: (limit: number) => void = () => {}
  let calls = 0
  const find = create(() => { calls++; return new Promise((resolve) => { answer = resolve }) }, clock)
  const waiting = Promise.allSettled([find('a', ''), find('a', '')])
  await clock.advance(5000)
  for (const result of await waiting) {
    t.match(result, { status: 'rejected', reason: { code: 'storage_timeout', message: 'limits.max did not answer within 5000 ms' } })
  }
  const next = find('a', '')
  answer(6)
  t.equal(await next, 6)
  t.equal(calls, 2)
  t.equal(clock.timerCount, 0)
})

t.test('a late failure does not drop the result after it', async (t) => {
  const clock = createManualClock()
  const fails: Array<() => void> = []
  let calls = 0
  const find = create(() => ++calls === 1 ? new Promise((_resolve, reject) => { fails.push(() => reject(new Error('late'))) }) : calls, clock)
  const first = find('a', '').catch(() => 'failed')
  await clock.skip(60_000)
  t.equal(await find('a', ''), 2)
  for (const fail of fails) fail()
  t.equal(await first, 'failed')
  t.equal(await find('a', ''), 2)
})

t.test('results are kept in a bounded number', async (t) => {
  let calls = 0
  const find = create(() => { calls++; return 1 })
  for (let at = 0; at <= 10_000; at++) await find(String(at), '')
  await find('10000', '')
  t.equal(calls, 10_001)
  await find('0', '')
  t.equal(calls, 10_002)
})
