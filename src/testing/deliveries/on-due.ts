import { benchCase } from '../support/bench.js'
import { holds, same } from '../support/expect.js'
import { eventually } from '../support/wait.js'

const calls =
  'Calls `listener` when deliveries may have fallen due, also those recorded by another process where the storage can tell.'
const ends = 'Returns what ends it, which may be called twice.'

/** Cases about listening for what falls due. */
export const onDueCases = [
  benchCase('deliveries', {
    port: 'deliveries.onDue', says: calls, name: 'every listener hears of an event that is recorded'
  }, async ({ deliveries, addWebhook, emit }) => {
    await addWebhook()
    let first = 0
    let second = 0
    const ends = [deliveries.onDue(() => { first++ }), deliveries.onDue(() => { second++ })]
    await emit()
    const isHeard = await eventually(() => first > 0 && second > 0)
    for (const end of ends) end()
    holds(isHeard, 'both listeners are called within 5 s')
  }),

  benchCase('deliveries', {
    port: 'deliveries.onDue', says: calls, name: 'a listener finds the change made'
  }, async ({ deliveries, addWebhook, emit, claim }) => {
    await addWebhook()
    const claims: Array<ReturnType<typeof claim>> = []
    const end = deliveries.onDue(() => { claims.push(claim()) })
    await emit()
    await eventually(() => claims.length > 0)
    end()
    same((await Promise.all(claims)).flat().map(({ eventId }) => eventId), ['evt_1'], 'what a listener claims')
  }),

  benchCase('deliveries', {
    port: 'deliveries.onDue', says: ends, name: 'each listener is ended by itself, and may be ended twice'
  }, async ({ deliveries, addWebhook, emit }) => {
    await addWebhook()
    let ended = 0
    let listening = 0
    const endFirst = deliveries.onDue(() => { ended++ })
    const endSecond = deliveries.onDue(() => { listening++ })
    endFirst()
    endFirst()
    await emit()
    const isHeard = await eventually(() => listening > 0)
    endSecond()
    endSecond()
    same([ended, isHeard], [0, true], 'the calls of the ended listener, and whether the other was called')
  })
]
