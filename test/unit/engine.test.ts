import t from 'tap'
import { memoryStorage } from '../../src/memory/index.js'
import { readRecruitingOptions } from '../../src/options/api.js'
import { createEngine } from '../../src/webhooks/engine.js'
import { silentLogger } from '../fixtures/delivery/silent-logger.js'
import { createManualClock } from '../fixtures/delivery/manual-clock.js'

t.test('an engine that was closed before it was started does not start', async (t) => {
  const clock = createManualClock()
  const engine = createEngine(readRecruitingOptions({ storage: memoryStorage(), delivery: { clock } }), silentLogger)
  await engine.close()
  engine.start()
  t.equal(clock.timerCount, 0)
})
