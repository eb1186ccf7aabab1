import t from 'tap'
import { createRestingNames } from '../../src/shared/tenants.js'
import { createManualClock } from '../fixtures/delivery/manual-clock.js'

function createNames (start: string) {
  const clock = createManualClock(start)
  const state = { reads: 0, isDown: false }
  const names = createRestingNames({
    async listResting () {
      state.reads++
      if (state.isDown) throw new Error('no database')
      return [{ tenantId: 'acme', until: '2026-01-02T00:00:00.000Z' }]
    }
  }, clock)
  return { clock, state, names }
}

t.test('resting names are read at most every two seconds, and a request waits for it only after a minute', async (t) => {
  const { clock, state, names } = createNames('2026-01-01T00:00:00.000Z')
  for (const [passMs, reads] of [[0, 1], [0, 1], [2000, 1], [1, 2], [1000, 2], [60_001, 3]] as const) {
    await clock.skip(passMs)
    t.equal(await names.findEnd('acme'), '2026-01-02T00:00:00.000Z')
    t.equal(await names.findEnd('globex'), null)
    t.equal(state.reads, reads)
  }
})

t.test('a storage that fails for less than a minute fails no request', async (t) => {
  const { clock, state, names } = createNames('2026-01-01T00:00:00.000Z')
  await names.findEnd('acme')
  state.isDown = true
  await clock.skip(50_000)
  t.equal(await names.findEnd('acme'), '2026-01-02T00:00:00.000Z')
  await clock.skip(10_001)
  await t.rejects(names.findEnd('acme'), { message: 'no database' })
  state.isDown = false
  t.equal(await names.findEnd('acme'), '2026-01-02T00:00:00.000Z')
})

t.test('a clock that was set back reads the names again', async (t) => {
  const { clock, state, names } = createNames('2026-01-01T12:00:00.000Z')
  await names.findEnd('acme')
  await clock.skip(-3_600_000)
  await names.findEnd('acme')
  t.equal(state.reads, 2)
})
