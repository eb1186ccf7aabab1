import type { DeliveryOptions, DeliverySettings } from './delivery.js'
import { expect, expectInteger, expectNames } from '../shared/expect.js'
import { omitUndefined } from '../shared/omit-undefined.js'
import type { DisableRule } from '../ports/index.js'
import { systemClock } from '../shared/clock.js'
import { parseCidr } from '../webhooks/guard/addresses.js'
import { defaultRetrySchedule } from '../webhooks/queue/retry.js'

/** Checks how deliveries are made, and fills in the defaults. */
export function resolveDelivery (options: DeliveryOptions): DeliverySettings {
  expect(typeof options === 'object' && options !== null && !Array.isArray(options), 'delivery', 'an object or false', options)
  const { timeoutMs = 15_000 } = options
  const defaults: DeliverySettings = {
    worker: true,
    concurrency: 64,
    perEndpoint: 4,
    timeoutMs,
    leaseMs: Math.max(60_000, timeoutMs * 2),
    retrySchedule: defaultRetrySchedule,
    pollMs: 1000,
    closeGraceMs: 10_000,
    allowHttp: false,
    allowNetworks: [],
    denyNetworks: [],
    disableAfter: { failingForSeconds: 432_000, failedDeliveries: 10 },
    retentionDays: 30,
    clock: systemClock
  }
  expectNames(options, defaults, 'delivery.')
  const settings: DeliverySettings = { ...defaults, ...omitUndefined(options) }
  assertDelivery(settings)
  return settings
}

function assertDelivery (settings: DeliverySettings): void {
  expect(typeof settings.worker === 'boolean', 'delivery.worker', 'a boolean', settings.worker)
  expectInteger(settings.concurrency, 'delivery.concurrency', 1, 10_000)
  expectInteger(settings.perEndpoint, 'delivery.perEndpoint', 1, 1000)
  expectInteger(settings.timeoutMs, 'delivery.timeoutMs', 100, 120_000)
  expectInteger(settings.leaseMs, 'delivery.leaseMs', settings.timeoutMs + 5000, 3_600_000)
  expectInteger(settings.pollMs, 'delivery.pollMs', 10, 60_000)
  expectInteger(settings.closeGraceMs, 'delivery.closeGraceMs', 0, 120_000)
  expectInteger(settings.retentionDays, 'delivery.retentionDays', 1, 3650)
  expect(typeof settings.allowHttp === 'boolean', 'delivery.allowHttp', 'a boolean', settings.allowHttp)
  assertSchedule(settings.retrySchedule)
  assertNetworks(settings.allowNetworks, 'delivery.allowNetworks')
  assertNetworks(settings.denyNetworks, 'delivery.denyNetworks')
  assertDisableRule(settings.disableAfter)
  for (const method of ['now', 'setTimeout', 'clearTimeout'] as const) {
    expect(typeof settings.clock?.[method] === 'function', `delivery.clock.${method}`, 'a method', settings.clock?.[method])
  }
}

function assertSchedule (schedule: readonly number[]): void {
  expect(Array.isArray(schedule) && schedule.length >= 1 && schedule.length <= 100, 'delivery.retrySchedule', '1 to 100 numbers', schedule)
  for (const [index, seconds] of schedule.entries()) {
    const isValid = typeof seconds === 'number' && seconds >= 0 && seconds <= 31_536_000
    expect(isValid, `delivery.retrySchedule[${index}]`, 'seconds from 0 to 31536000', seconds)
  }
}

function assertNetworks (networks: readonly string[], path: string): void {
  expect(Array.isArray(networks), path, 'an array of CIDRs', networks)
  for (const [index, cidr] of networks.entries()) {
    const isValid = typeof cidr === 'string' && parseCidr(cidr) !== null
    expect(isValid, `${path}[${index}]`, 'a CIDR such as 10.0.0.0/8', cidr)
  }
}

function assertDisableRule (rule: DisableRule): void {
  expect(typeof rule === 'object' && rule !== null, 'delivery.disableAfter', 'an object', rule)
  expectNames(rule, { failingForSeconds: true, failedDeliveries: true }, 'delivery.disableAfter.')
  expectInteger(rule.failingForSeconds, 'delivery.disableAfter.failingForSeconds', 0, 31_536_000)
  expectInteger(rule.failedDeliveries, 'delivery.disableAfter.failedDeliveries', 1, 1_000_000)
}
