import t, { type Test } from 'tap'
import { createRecruiting } from '../../../src/index.js'
import { createMachines, event } from '../../fixtures/delivery/engine.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'
import { runUntil, toLoopback } from '../../fixtures/api/webhook-api.js'

/** An engine without a logger, and the process warnings that come of it. */
function startWithoutLogger (t: Test) {
  const machines = createMachines(t)
  const { clock, storage } = machines
  const warnings = t.capture(process, 'emitWarning', () => {})
  return {
    ...machines,
    start () {
      const engine = createRecruiting({ storage, delivery: { ...toLoopback, pollMs: 1000, clock } })
      t.teardown(() => runUntil(clock, engine.close()))
      return engine
    },
    /** Those since the last call. */
    takeWarnings: () => warnings().map(({ args }) => args)
  }
}

t.test('a worker without a logger that cannot reach its storage warns once a minute', async (t) => {
  const { clock, start, storage, takeWarnings } = startWithoutLogger(t)
  let claims = 0
  storage.deliveries.claimDue = async () => {
    claims++
    throw Object.assign(new AggregateError([], ''), { code: 'ECONNREFUSED' })
  }
  start()
  for (let second = 0; second < 59; second++) await clock.advance(1000)
  t.ok(claims > 5)
  t.strictSame(takeWarnings(), [['storage failed, deliveries wait: ECONNREFUSED', {
    type: 'RecruitingWarning', detail: 'Pass a logger to createRecruiting to see every line. {}'
  }]])
  for (let second = 0; second < 30; second++) await clock.advance(1000)
  t.equal(takeWarnings().length, 1)
})

t.test('a storage that is not ready warns besides, as does each of its sentences', async (t) => {
  const { start, storage, takeWarnings } = startWithoutLogger(t)
  Object.assign(storage, { verify: async () => ['an index is missing', 'the pool is small'] })
  await start().drain()
  Object.assign(storage, { verify: async () => { throw new Error('run the migrations') } })
  await start().drain()
  t.same(takeWarnings().map(([text]) => text), ['an index is missing', 'the pool is small', 'the storage is not ready: run the migrations'])
})

t.test('a delivery that fails without a logger warns with the fields of its log line', async (t) => {
  const { addWebhook, start, takeWarnings } = startWithoutLogger(t)
  const receiver = await startReceiver(t)
  const id = await addWebhook(`${receiver.url}/path-with-token`)
  receiver.answer(410)
  const engine = start()
  await engine.emit(event)
  await engine.drain()
  const warnings = takeWarnings()
  t.match(warnings, [
    ['delivery failed, giving up', { type: 'RecruitingWarning', detail: `{"webhook_id":${id},` }],
    ['webhook disabled, it returned 410', { type: 'RecruitingWarning', detail: `{"webhook_id":${id},` }]
  ])
  t.notMatch(JSON.stringify(warnings), /token/)
})
