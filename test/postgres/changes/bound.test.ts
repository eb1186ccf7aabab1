import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { createReadBound } from '../../../src/storages/postgres/changes/position.js'
import type { Session } from '../../../src/storages/postgres/session.js'

t.test('readers share one read of the bound, which begins after they came', async (t) => {
  const ends: Array<(bound: string | Error) => void> = []
  const session: Session = {
    query: () => Promise.reject(new Error('not used')),
    prepared: <Row>() => new Promise<Row[]>((resolve, reject) => {
      ends.push((bound) => typeof bound === 'string' ? resolve([{ bound, last: bound } as Row]) : reject(bound))
    }),
    transaction: () => Promise.reject(new Error('not used'))
  }
  async function begun (count: number): Promise<void> {
    while (ends.length < count) await setImmediate()
  }
  const read = createReadBound(session, '"recruiting"', 'events')
  const first = read()
  const others = [read(), read(), read()]
  await setImmediate()
  t.equal(ends.length, 1, 'the others wait')
  ends[0]?.('1')
  t.equal((await first).bound, '1')
  await begun(2)
  const last = read()
  ends[1]?.('2')
  t.strictSame((await Promise.all(others)).map(({ bound }) => bound), ['2', '2', '2'])
  await begun(3)
  ends[2]?.(new Error('no connection'))
  await t.rejects(last, { message: 'no connection' })
  const later = read()
  await begun(4)
  ends[3]?.('4')
  t.equal((await later).bound, '4', 'an error ends one read')
  t.equal(ends.length, 4)
})
