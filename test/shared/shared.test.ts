import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import t from 'tap'
import { formatValue, sendAsText } from '../../src/storages/postgres/transactions.js'
import { createCachedLimit, LruMap } from '../../src/core/shared/cached.js'
import type { Limit } from '../../src/core/shared/read-options.js'
import { parseId } from '../../src/core/shared/ids.js'
import { fastifyVersions } from '../../src/plugin.js'
import { createManualClock } from '../fixtures/delivery/manual-clock.js'

t.test('a parameter with a cast is sent as text', async (t) => {
  t.same(sendAsText('select $1::bigint, $2, $10::jsonb', [5, 6, 'c', 'd', 'e', 'f', 'g', 'h', 'i', null]), {
    text: 'select $1::text::bigint, $2, $10::text::jsonb',
    values: ['5', 6, 'c', 'd', 'e', 'f', 'g', 'h', 'i', null]
  })
})

t.test('a parameter that is also used without a cast is sent unchanged', async (t) => {
  const statement = { text: 'select $1::bigint + $1', values: [5] }
  t.same(sendAsText(statement.text, statement.values), statement)
})

t.test('texts, names and comments are unchanged', async (t) => {
  const text = 'select \'$1::a\', "$1::b", \'it\'\'s $1::c\' -- it\'s $1::d\n /* it\'s $1::e */'
  t.same(sendAsText(`${text}, $1::int`, [5]).text, `${text}, $1::text::int`)
})

t.test('an array is formatted for PostgreSQL', async (t) => {
  t.equal(formatValue([]), '{}')
  t.equal(formatValue(['a', null, undefined, 'null', '', '"\\{},']), '{"a",null,null,"null","","\\"\\\\{},"}')
  t.equal(formatValue([[1, 2], [3, 9007199254740991n]]), '{{"1","2"},{"3","9007199254740991"}}')
  t.equal(formatValue(undefined), null)
})

function create (limit: Limit<string>, clock = createManualClock()) {
  return createCachedLimit(limit, { path: 'limits.max', minimum: 1, maximum: 100, clock })
}

t.test('a result is cached by name for a minute from the start of the call', async (t) => {
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

t.test('concurrent calls run the function once', async (t) => {
  let calls = 0
  const find = create(async () => { calls++; return 7 })
  t.strictSame(await Promise.all([find('a', ''), find('a', ''), find('a', '')]), [7, 7, 7])
  t.equal(calls, 1)
})

t.test('a failure rejects all waiting calls, names the option and is not cached', async (t) => {
  let fails = true
  const thrown = new Error('no such plan')
  const answer = (): number => {
    if (fails) throw thrown
    return 9
  }
  for (const limit of [answer, async () => answer()] as Array<Limit<string>>) {
    fails = true
    const find = create(limit)
    for (const result of await Promise.allSettled([find('a', ''), find('a', '')])) {
      t.match(result, { status: 'rejected', reason: { message: 'limits.max: the function failed', cause: thrown } })
    }
    fails = false
    t.equal(await find('a', ''), 9)
  }
})

t.test('a result that is not an integer in the range is rejected', async (t) => {
  for (const [wrong, shown] of [
    [0, '0'], [101, '101'], [1.5, '1.5'], [Number.NaN, 'NaN'], [Number.POSITIVE_INFINITY, 'Infinity'], ['5', '"5"'], [null, 'null'], [undefined, 'undefined'], [{}, 'an object'], [5n, '5']
  ] as const) {
    for (const limit of [() => wrong, async () => wrong]) {
      await t.rejects(create(limit as never)('a', ''), { code: 'invalid_option', field: 'limits.max', message: `limits.max: expected a function that returns an integer from 1 to 100, got ${shown}` })
    }
  }
})

t.test('a hanging function times out after 5 seconds, and the next call runs it again', async (t) => {
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

t.test('a late failure does not drop a newer result', async (t) => {
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

t.test('the number of cached results is limited', async (t) => {
  let calls = 0
  const find = create(() => { calls++; return 1 })
  for (let at = 0; at <= 10_000; at++) await find(String(at), '')
  await find('10000', '')
  t.equal(calls, 10_001)
  await find('0', '')
  t.equal(calls, 10_002)
})

t.test('a full map drops the least recently used entry', async (t) => {
  const map = new LruMap<number>(2)
  map.set('a', 1)
  map.set('b', 2)
  t.equal(map.get('a'), 1)
  t.equal(map.getOrCreate('c', () => 3), 3)
  t.same(['a', 'b', 'c'].map((key) => map.get(key)), [1, undefined, 3])
})

t.test('text is parsed as an id of its kind', async (t) => {
  const integers: Array<[string, number | null]> = [
    ['7', 7], ['-7', -7], ['9007199254740991', Number.MAX_SAFE_INTEGER], ['9007199254740993', null], ['', null], ['1e3', null], [' 7', null], ['0x7', null], ['a', null]
  ]
  for (const [text, id] of integers) t.equal(parseId(text, 'integer'), id, text)
  for (const text of ['7', 'a', '0197f4c2-8a10-7d3e-9b51-6c2f8e1a4d70', '~'.repeat(64)]) t.equal(parseId(text, 'string'), text)
  for (const text of ['', 'a b', 'a/b', 'é', '\n', 'a\n', 'x'.repeat(65)]) t.equal(parseId(text, 'string'), null, JSON.stringify(text))
})

const { satisfies } = createRequire(import.meta.resolve('fastify'))('semver') as { satisfies: (version: string, range: string) => boolean }

t.test('Fastify 5 and 6 accept the plugin, with the pre-releases of 6', async (t) => {
  const accepted = ['5.8.5', '5.99.0', '6.0.0-alpha.4', '6.0.0-beta.1', '6.0.0-rc.1', '6.0.0', '6.7.2'].filter((version) => satisfies(version, fastifyVersions))
  t.equal(accepted.length, 7, String(accepted))
  for (const version of ['4.29.1', '7.0.0-alpha.1', '7.0.0']) t.notOk(satisfies(version, fastifyVersions), version)
})

t.test('npm installs the plugin with the same major versions', async (t) => {
  const { peerDependencies } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'))
  for (const version of ['5.8.5', '6.0.0-alpha.4', '6.0.0', '6.7.2']) t.ok(satisfies(version, peerDependencies.fastify), version)
  for (const version of ['4.29.1', '7.0.0']) t.notOk(satisfies(version, peerDependencies.fastify), version)
})
