import t from 'tap'
import { memoryStorage } from '../../../src/memory/index.js'
import { createPruner } from '../../../src/webhooks/queue/housekeeping.js'
import { createManualClock } from '../../fixtures/delivery/manual-clock.js'
import { silentLogger } from '../../fixtures/delivery/silent-logger.js'

const minute = 60_000

t.test('processes that start together prune at different times of the first ten minutes, then every hour', async (t) => {
  const clock = createManualClock()
  const startedAt = clock.now()
  const prunedAt: number[][] = []
  const stops = Array.from({ length: 20 }, () => {
    const times: number[] = []
    prunedAt.push(times)
    const storage = memoryStorage()
    storage.deliveries.prune = async () => {
      times.push(clock.now() - startedAt)
      return 0
    }
    const pruner = createPruner(storage, { retentionDays: 30, changesRetentionDays: 90 }, { clock, log: silentLogger })
    pruner.start()
    return pruner.stop
  })

  await clock.advance(0)
  t.ok(prunedAt.flat().length < 20, 'not all at once')
  await clock.advance(10 * minute)
  t.same(prunedAt.map((times) => times.length), stops.map(() => 1))
  t.ok(new Set(prunedAt.flat()).size > 10, 'at different times')
  await clock.advance(60 * minute)
  t.same(prunedAt.map(([first = 0, second]) => second === first + 60 * minute), stops.map(() => true))
  for (const stop of stops) await stop(0)
  t.equal(clock.timerCount, 0)
})
