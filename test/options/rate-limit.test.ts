import t from 'tap'
import { assertAcceptedByPlugin, assertRefusedByPlugin } from '../fixtures/refused-option.js'

const store = class { incr () {} }
const time = 'milliseconds from 1000 to 86400000, or text such as 1 minute'
const times = [
  [999, '999'], [86_400_001, '86400001'], [1500.5, '1500.5'], [null, 'null'], ['1 eternity', '"1 eternity"'], ['minute', '"minute"'],
  ['', '""'], ['-1 minute', '"-1 minute"'], ['1 constructor', '"1 constructor"'], ['25 hours', '"25 hours"'], ['500 ms', '"500 ms"']
] as const

t.test('limits that are at fault are refused, with their path', async (t) => {
  for (const [rateLimit, path, expected, shown] of [
    ['yes', '', 'a boolean or an object', '"yes"'],
    [null, '', 'a boolean or an object', 'null'],
    [{ maximum: 5 }, '.maximum', 'a known name such as max', '"maximum"'],
    [{ failKeys: {} }, '.failKeys', 'a known name such as failedKeys', '"failKeys"'],
    [{ max: 0 }, '.max', 'an integer from 1 to 1000000000, or a function', '0'],
    [{ max: '100' }, '.max', 'an integer from 1 to 1000000000, or a function', '"100"'],
    [{ perTenant: 1 }, '.perTenant', 'a boolean', '1'],
    [{ failedKeys: { max: () => 5 } }, '.failedKeys.max', 'an integer from 1 to 1000000000', 'a function'],
    ...times.map(([timeWindow, shown]) => [{ timeWindow }, '.timeWindow', time, shown] as const),
    [{ operations: 5 }, '.operations', 'an object', '5'],
    [{ operations: null }, '.operations', 'an object', 'null'],
    [{ operations: { replayWebhook: 5 } }, '.operations.replayWebhook', 'an object', '5'],
    [{ operations: { replayWebhook: null } }, '.operations.replayWebhook', 'an object', 'null'],
    [{ operations: { replayWebhook: { max: 1.5 } } }, '.operations.replayWebhook.max', 'an integer from 1 to 1000000000, or a function', '1.5'],
    [{ operations: { replay: {} } }, '.operations.replay', 'the operationId of a route', '"replay"'],
    [{ failedKeys: true }, '.failedKeys', 'an object', 'true'],
    [{ failedKeys: { window: 1 } }, '.failedKeys.window', 'a known name such as timeWindow', '"window"'],
    [{ redis: 'redis://localhost' }, '.redis', 'a client such as that of ioredis', '"redis://localhost"'],
    [{ redis: null }, '.redis', 'a client such as that of ioredis', 'null'],
    [{ nameSpace: 1 }, '.nameSpace', 'a string', '1'],
    [{ store: class { read () {} } }, '.store', 'a class with the method incr', 'a function'],
    [{ store: null }, '.store', 'a class with the method incr', 'null'],
    [{ cache: 0 }, '.cache', 'an integer from 1 to 10000000', '0'],
    [{ skipOnError: 1 }, '.skipOnError', 'a boolean', '1']
  ] as const) await assertRefusedByPlugin(t, [{ rateLimit }, `rateLimit${path}`, expected, shown])
})

t.test('limits of undefined are the default', async (t) => {
  await assertAcceptedByPlugin(t, { rateLimit: undefined })
  await assertAcceptedByPlugin(t, {
    rateLimit: { max: undefined, timeWindow: undefined, operations: undefined, failedKeys: undefined, redis: undefined, store: undefined, cache: undefined }
  })
  await assertAcceptedByPlugin(t, { rateLimit: { store } })
})
