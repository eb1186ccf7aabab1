import { Type } from '@sinclair/typebox'
import t from 'tap'
import { createRecruiting } from '../../../src/index.js'
import { memoryStorage } from '../../../src/memory/index.js'

t.test('events that refer to another event mean the event of their own catalogue, also beside other catalogues', async (t) => {
  const letter = Type.Object({ offer: Type.Unsafe<object>({ $ref: 'Offer' }) })
  for (const [salary, good, bad] of [[Type.Integer(), 1, 'much'], [Type.String(), 'much', 1]] as const) {
    const events = { 'offer.made': Type.Object({ salary }, { $id: 'Offer' }), 'letter.sent': letter }
    const recruiting = createRecruiting({ storage: memoryStorage(), delivery: false, events })
    t.teardown(() => recruiting.close())
    const emit = (value: unknown) => recruiting.emit({ tenantSlug: 'acme', type: 'letter.sent', data: { offer: { salary: value } } })
    t.match(await emit(good), { id: String })
    await t.rejects(emit(bad), { code: 'invalid_event', field: 'data.offer.salary' })
  }
})
