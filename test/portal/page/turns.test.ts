import t, { type Test } from 'tap'
import { type Result, noResponse } from '../../../src/portal/page/api.js'
import { createTurns } from '../../../src/portal/page/turns.js'

const failed: Result<string> = { value: null, failure: noResponse('network') }

/** Loads named values, each of which ends when the test says so. */
function start (most: number) {
  const inTurn = createTurns(most)
  const begun: string[] = []
  const ends = new Map<string, (result: Result<string>) => void>()
  return {
    begun,
    load: (name: string, { signal }: { signal: AbortSignal } = new AbortController()) => inTurn((given) => {
      begun.push(name)
      return new Promise<Result<string>>((resolve, reject) => {
        ends.set(name, resolve)
        given.addEventListener('abort', () => reject(given.reason))
      })
    }, signal),
    end: (name: string, result: Result<string> = { value: name, failure: null }) => ends.get(name)?.(result)
  }
}

async function assertLoaded (t: Test, loads: Array<Promise<string | null>>, values: Array<string | null>): Promise<void> {
  t.strictSame(await Promise.all(loads), values)
}

t.test('two load at once, the others after them in the order they came', async (t) => {
  const { begun, load, end } = start(2)
  const [a, b, c, d] = [load('a'), load('b'), load('c'), load('d')]
  t.strictSame(begun, ['a', 'b'])
  end('b')
  t.equal(await b, 'b')
  t.strictSame(begun, ['a', 'b', 'c'])
  end('a')
  t.equal(await a, 'a')
  t.strictSame(begun, ['a', 'b', 'c', 'd'])
  end('c')
  end('d')
  await assertLoaded(t, [c, d], ['c', 'd'])
  const later = ['e', 'f', 'g'].map((name) => load(name))
  t.strictSame(begun.slice(4), ['e', 'f'])
  for (const name of ['e', 'f']) end(name)
  await assertLoaded(t, later.slice(0, 2), ['e', 'f'])
  end('g')
  await assertLoaded(t, later.slice(2), ['g'])
})

t.test('after a failure nothing else is loaded, and what is being loaded still counts', async (t) => {
  const { begun, load, end } = start(2)
  const loads = [load('a'), load('b'), load('c')]
  end('a', failed)
  await loads[0]
  end('b')
  await assertLoaded(t, [...loads, load('d')], [null, 'b', null, null])
  t.strictSame(begun, ['a', 'b'])
})

t.test('one that is no longer wanted gives its place to the next, and stops nothing', async (t) => {
  const { begun, load, end } = start(1)
  const [shown, hidden] = [new AbortController(), new AbortController()]
  const loads = [load('a', shown), load('b', hidden), load('c')]
  hidden.abort()
  shown.abort()
  await assertLoaded(t, loads.slice(0, 2), [null, null])
  t.strictSame(begun, ['a', 'c'])
  end('c')
  await assertLoaded(t, loads, [null, null, 'c'])
})
