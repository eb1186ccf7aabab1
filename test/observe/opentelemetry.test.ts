import * as opentelemetry from '@opentelemetry/api'
import t from 'tap'
import { assertAccepted, assertRefused } from '../fixtures/refused-option.js'

t.test('opentelemetry is the module @opentelemetry/api', async (t) => {
  for (const [value, shown] of [[true, 'true'], [{}, 'an object'], [{ trace: {} }, 'an object'], [{ trace: null }, 'an object']] as const) {
    await assertRefused(t, [{ opentelemetry: value }, 'opentelemetry', 'the module @opentelemetry/api', shown])
  }
  await assertAccepted(t, { opentelemetry })
  await assertAccepted(t, { opentelemetry: undefined })
  await assertAccepted(t, { opentelemetry: null })
})
