import t from 'tap'
import { healthWord } from '../../../src/portal/page/health.js'

t.test('a webhook has one word for its health', (t) => {
  const health = { failing_since: null, failed_deliveries: 0, paused_until: null, disabled_reason: null }
  t.strictSame(healthWord('active', null), { tone: 'good', word: 'active' })
  t.strictSame(healthWord('active', health), { tone: 'good', word: 'active' })
  t.strictSame(healthWord('active', { ...health, failing_since: '2026-03-01T09:30:00.000Z' }), { tone: 'waiting', word: 'failing' })
  t.strictSame(healthWord('inactive', health), { tone: 'off', word: 'paused' })
  t.strictSame(healthWord('disabled', { ...health, disabled_reason: 'gone' }), { tone: 'bad', word: 'disabled' })
  t.end()
})
