import t from 'tap'
import { isRecruitingApiError, RecruitingApiError } from '../../src/index.js'
import { readDelivery } from '../../src/core/webhooks/options.js'
import { optionInterfaces } from '../fixtures/option-interfaces.js'
import { readMembers } from '../../scripts/tables/members.js'
import {
  assertAccepted, assertAcceptedByPlugin, assertRejected, assertRejectedByPlugin
} from '../fixtures/rejected-option.js'

t.test('an error without a field has an empty one', async (t) => {
  t.equal(new RecruitingApiError('closed', 'the engine is closed').field, '')
})

t.test('isRecruitingApiError recognizes an error of another copy of the package', async (t) => {
  const copy = Object.assign(new Error('closed'), { [Symbol.for('fastify-recruiting-api.error')]: true })
  t.ok(isRecruitingApiError(copy))
  t.ok(isRecruitingApiError(new RecruitingApiError('closed', 'the engine is closed')))
})

t.test('isRecruitingApiError returns false for anything else', async (t) => {
  const values = [null, undefined, '', 'RecruitingApiError', 17, {}, [], new Error('closed'), { name: 'RecruitingApiError', code: 'closed' }, () => {}]
  for (const value of values) t.notOk(isRecruitingApiError(value))
})

t.test('a misspelt option is rejected with the nearest name, without showing its value', async (t) => {
  const engine = { secretKey: 'secretKeys', maxWebhookPerTenant: 'maxWebhooksPerTenant', event: 'events', prefx: 'prefix', loger: 'logger' }
  for (const [name, nearest] of Object.entries(engine)) {
    await assertRejected(t, [{ [name]: 'a secret' }, name, `a known name such as ${nearest}`, JSON.stringify(name)])
  }
  await assertRejected(t, [{ delivery: { poolMs: 5 } }, 'delivery.poolMs', 'a known name such as pollMs', '"poolMs"'])
  const disableAfter = { failingForSeconds: 60, failedDeliveries: 1, failingForDays: 1 }
  const path = 'delivery.disableAfter.failingForDays'
  await assertRejected(t, [{ delivery: { disableAfter } }, path, 'a known name such as failingForSeconds', '"failingForDays"'])
  const plugin = { errorDetail: 'errorDetails', RATELIMIT: 'rateLimit', keylookup: 'keyLookup', route: 'routes', openAPI: 'openapi', audit: 'onAudit' }
  for (const [name, nearest] of Object.entries(plugin)) {
    await assertRejectedByPlugin(t, [{ [name]: undefined }, name, `a known name such as ${nearest}`, JSON.stringify(name)])
  }
  await assertRejectedByPlugin(t, [{ toString: true }, 'toString', 'a known name such as storage', '"toString"'])
})

t.test('the plugin and createRecruiting accept the same options object and check all of it', async (t) => {
  await assertAccepted(t, { keyLookup: async () => null, prefix: '/api', errorDetails: true, rateLimit: true })
  await assertAccepted(t, { keyLookup: undefined, prefix: undefined })
  await assertRejected(t, [{ prefix: 'api' }, 'prefix', 'a path such as /api/v1/public', '"api"'])
  await assertRejected(t, [{ keyLookup: null }, 'keyLookup', 'a function', 'null'])
  await assertRejected(t, [{ rateLimit: { max: 0 } }, 'rateLimit.max', 'an integer from 1 to 1000000000, or a function', '0'])
})

t.test("only the plugin accepts Fastify's register options, and only createRecruiting a logger with three methods", async (t) => {
  await assertAcceptedByPlugin(t, { logLevel: 'warn', logSerializers: {} })
  await assertRejected(t, [{ logLevel: 'warn' }, 'logLevel', 'a known name such as logger', '"logLevel"'])
  const logger = { info () {}, warn () {}, error () {} }
  await assertRejectedByPlugin(t, [{ logger }, 'logger', 'none, because the plugin logs with app.log', 'an object'])
  await assertAccepted(t, { logger })
  for (const level of Object.keys(logger)) {
    await assertRejected(t, [{ logger: { ...logger, [level]: undefined } }, `logger.${level}`, 'a method', 'undefined'])
  }
  await assertRejected(t, [{ logger: null }, 'logger.info', 'a method', 'undefined'])
})

t.test('an undefined option gets its default', async (t) => {
  const unset = (names: string[]): object => Object.fromEntries(names.map((name) => [name, undefined]))
  await assertAccepted(t, { delivery: unset(Object.keys(readDelivery({}, 'delivery'))) })
  await assertAccepted(t, unset(['delivery', 'events', 'secretKeys', 'maxWebhooksPerTenant']))
  await assertAcceptedByPlugin(t, unset(['prefix', 'openapi', 'errorDetails', 'requestId']))
})

const toNumber = (text = ''): number => Number(text.replaceAll(',', ''))

t.test('options have their documented ranges and defaults', async (t) => {
  const checked = { ranges: 0, defaults: 0 }
  for (const [path, name, readOptions] of optionInterfaces) {
    for (const { name: option, text, defaultText } of await readMembers(path, name)) {
      const setting = (value?: unknown): unknown => Reflect.get(readOptions({ [option]: value }), option)
      const [, from, to] = /([\d,]+) to (\d[\d,]*)(?=[.:]|, )/.exec(text) ?? []
      if (from !== undefined) {
        checked.ranges++
        for (const value of [toNumber(from), toNumber(to)]) t.equal(setting(value), value, `${option}: ${value}`)
        for (const value of [toNumber(from) - 1, toNumber(to) + 1]) t.throws(() => setting(value), { code: 'invalid_option' }, `${option}: ${value}`)
      }
      if (/^(\d+|true|false|\[.*\]|'[^']*')$/.test(defaultText ?? '')) {
        checked.defaults++
        const value = setting()
        const documented = JSON.parse(String(defaultText).replaceAll("'", '"'))
        // An option that can be switched off has an object or null as its setting.
        const isSwitch = typeof documented === 'boolean' && typeof value !== 'boolean'
        t.strictSame(isSwitch ? value !== null : value, documented, `${option} by default`)
      }
    }
  }
  t.ok(checked.ranges >= 13 && checked.defaults >= 31, `${checked.ranges} ranges and ${checked.defaults} defaults`)
})
