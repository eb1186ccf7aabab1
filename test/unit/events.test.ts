import t from 'tap'
import { Type } from '@sinclair/typebox'
import { generateEventId } from '../../src/webhooks/events/dispatcher.js'
import { createEventValidator } from '../../src/webhooks/events/catalogue.js'

t.test('event ids are evt_ and 32 hexadecimal digits, none like another', async (t) => {
  const ids = Array.from({ length: 1000 }, generateEventId)
  for (const id of ids.slice(0, 10)) t.match(id, /^evt_[0-9a-f]{32}$/)
  t.equal(new Set(ids).size, 1000)
  for (let at = 16; at < 36; at++) t.equal(new Set(ids.map((id) => id[at])).size, 16, `digit ${at} is random`)
})

t.test('validating never changes the data', async (t) => {
  const validate = createEventValidator({
    'job.created': Type.Object({ id: Type.Integer(), note: Type.String({ default: 'none' }) }, { additionalProperties: true })
  })
  const data = Object.freeze({ id: 1, note: 'x', unknown: true })
  validate('job.created', data)
  t.strictSame(data, { id: 1, note: 'x', unknown: true })
  t.throws(() => validate('job.created', { id: 1 }), { code: 'invalid_event', field: 'data.note' })
  t.throws(() => validate('job.created', { id: '1', note: 'x' }), { code: 'invalid_event', field: 'data.id' })
})

t.test('a schema may refuse unknown fields, and formats are checked', async (t) => {
  const validate = createEventValidator({
    'job.created': Type.Object({ at: Type.String({ format: 'date-time' }) }, { additionalProperties: false })
  })
  validate('job.created', { at: '2026-01-01T00:00:00Z' })
  t.throws(() => validate('job.created', { at: '2026-01-01T00:00:00Z', more: 1 }), {
    field: 'data.more', message: 'data.more: must NOT have additional properties', code: 'invalid_event'
  })
  t.throws(() => validate('job.created', { at: 'noon' }), { code: 'invalid_event', field: 'data.at' })
})
