import t from 'tap'
import { readMembers } from '../../scripts/tables/members.js'
import { readRecruitingOptions } from '../../src/options/api.js'
import { readDelivery } from '../../src/options/delivery.js'
import { readMcp } from '../../src/options/mcp.js'
import { readOpenApi } from '../../src/options/openapi.js'
import { readRateLimit } from '../../src/options/rate-limit.js'
import { memoryStorage } from '../../src/memory/index.js'
import { defaultEvents } from '../../src/index.js'

type Read = (options: object) => object

const storage = memoryStorage()
const readAll: Read = (options) => readRecruitingOptions({ storage, events: defaultEvents, ...options })
const read = (reader: (value: unknown, path: string) => object | null): Read => (options) => reader(options, 'options') ?? {}

/** The interfaces of options, and the function that reads them. */
const interfaces: Array<[path: string, name: string, read: Read]> = [
  ['src/options/recruiting.ts', 'EngineOptions', readAll],
  ['src/options/api.ts', 'ApiOptions', readAll],
  ['src/options/delivery.ts', 'DeliveryOptions', read(readDelivery)],
  ['src/options/rate-limit.ts', 'RateLimitBudget', read(readRateLimit)],
  ['src/options/rate-limit.ts', 'RateLimitOptions', read(readRateLimit)],
  ['src/options/mcp.ts', 'McpOptions', read(readMcp)],
  ['src/options/openapi.ts', 'OpenApiOptions', read(readOpenApi)]
]

const toNumber = (text = ''): number => Number(text.replaceAll(',', ''))

t.test('the documented ranges and defaults of options are those that are checked', async (t) => {
  const checked = { ranges: 0, defaults: 0 }
  for (const [path, name, readOptions] of interfaces) {
    for (const { name: option, text, defaultText } of await readMembers(path, name)) {
      const setting = (value?: unknown): unknown => Reflect.get(readOptions(value === undefined ? {} : { [option]: value }), option)
      const [, from, to] = /([\d,]+) to (\d[\d,]*)(?=[.:]|, )/.exec(text) ?? []
      if (from !== undefined) {
        checked.ranges++
        for (const value of [toNumber(from), toNumber(to)]) t.equal(setting(value), value, `${option}: ${value}`)
        for (const value of [toNumber(from) - 1, toNumber(to) + 1]) t.throws(() => setting(value), { code: 'invalid_option' }, `${option}: ${value}`)
      }
      if (/^(\d+|true|\[\d.*\]|'[^']*')$/.test(defaultText ?? '')) {
        checked.defaults++
        const value = setting()
        t.strictSame(option === 'openapi' ? value !== null : value, JSON.parse(String(defaultText).replaceAll("'", '"')), `${option} by default`)
      }
    }
  }
  t.ok(checked.ranges >= 10 && checked.defaults >= 12, `${checked.ranges} ranges and ${checked.defaults} defaults`)
})
