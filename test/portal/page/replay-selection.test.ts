import t from 'tap'
import { type Choice, findSinceError, toLocalInput, toReplay } from '../../../src/portal/page/replay-selection.js'

const now = Date.parse('2026-03-10T12:00:00.000Z')
const choice: Choice = { range: 'day', since: '', until: '', include: 'undelivered', eventTypes: [] }

t.test('a period ends with the call, unless it is an own one', (t) => {
  t.strictSame(toReplay({ ...choice, range: 'hour' }, now), { since: '2026-03-10T11:00:00.000Z', include: 'undelivered' })
  t.strictSame(toReplay({ ...choice, since: '2026-01-01T00:00', until: '2026-01-02T00:00' }, now), { since: '2026-03-09T12:00:00.000Z', include: 'undelivered' })
  t.strictSame(toReplay({ ...choice, range: 'week', include: 'all', eventTypes: ['job.created'] }, now), { since: '2026-03-03T12:00:00.000Z', include: 'all', event_types: ['job.created'] })
  t.end()
})

t.test('an own period is one of the reader\'s time zone', (t) => {
  const own: Choice = { ...choice, range: 'own', since: toLocalInput(now - 60_000), until: '' }
  t.strictSame(toReplay(own, now), { since: '2026-03-10T11:59:00.000Z', include: 'undelivered' })
  t.strictSame(toReplay({ ...own, until: toLocalInput(now) }, now), { since: '2026-03-10T11:59:00.000Z', until: '2026-03-10T12:00:00.000Z', include: 'undelivered' })
  t.end()
})

t.test('an own period has a beginning, before its end', (t) => {
  const own: Choice = { ...choice, range: 'own' }
  t.equal(findSinceError(choice), null)
  t.equal(findSinceError(own), 'since')
  t.equal(findSinceError({ ...own, since: '2026-03-10T12:00' }), null)
  t.equal(findSinceError({ ...own, since: '2026-03-10T12:00', until: '2026-03-10T12:00' }), 'order')
  t.equal(findSinceError({ ...own, since: '2026-03-10T12:00', until: '2026-03-10T12:01' }), null)
  t.end()
})
