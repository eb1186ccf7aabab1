import { benchCase, eventIds } from '../support/driver.js'
import { holds, same } from '../support/expect.js'
import { eventually } from '../support/wait.js'

/** Cases about `onDue`. */
export const onDueCases = [
  benchCase('deliveries', {
    port: 'deliveries.onDue', name: 'every listener is called for a recorded event'
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
    port: 'deliveries.onDue', name: 'a listener can claim the recorded event'
  }, async ({ deliveries, addWebhook, emit, claim }) => {
    await addWebhook()
    const claims: Array<ReturnType<typeof claim>> = []
    const end = deliveries.onDue(() => { claims.push(claim()) })
    await emit()
    await eventually(() => claims.length > 0)
    end()
    same(eventIds((await Promise.all(claims)).flat()), ['evt_1'], 'the deliveries that a listener claims')
  }),

  benchCase('deliveries', {
    port: 'deliveries.onDue', name: 'each listener stops independently, and may be stopped twice'
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
    same([ended, isHeard], [0, true], 'the calls of the stopped listener, and whether the other was called')
  })
]
