import type { OutgoingHttpHeaders } from 'node:http'
import t, { type Test } from 'tap'
import { type Delivering, startDelivering } from '../../fixtures/delivery/delivering.js'
import { createManualClock } from '../../fixtures/delivery/manual-clock.js'

const hour = 3_600_000
const day = 24 * hour

/** A whole second, for HTTP dates have no milliseconds. */
const now = Math.floor(Date.now() / 1000) * 1000

/** The date in the three forms of RFC 9110. */
const inAnHour = new Date(now + hour)
const [weekday = '', dayOfMonth = '', month = '', year = '', time = ''] = inAnHour.toUTCString().replace(',', '').split(' ')
const longWeekday = inAnHour.toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' })

const headers: Array<[title: string, value: string | string[], waitMs: number]> = [
  ['seconds', '3600', hour],
  ['seconds with zeros before them', '0060', 60_000],
  ['seconds within white space', ' 60 ', 60_000],
  ['fewer seconds than the schedule', '1', 5000],
  ['no seconds', '0', 5000],
  ['exactly a day', '86400', day],
  ['more than a day', '86401', day],
  ['a year', '31536000', day],
  ['more seconds than a number holds', '9'.repeat(400), day],
  ['an HTTP date', inAnHour.toUTCString(), hour],
  ['a date of RFC 850', `${longWeekday}, ${dayOfMonth}-${month}-${year.slice(2)} ${time} GMT`, hour],
  ['a date of asctime', `${weekday} ${month} ${String(Number(dayOfMonth)).padStart(2)} ${time} ${year}`, hour],
  ['a date in more than a day', new Date(now + 30 * day).toUTCString(), day],
  ['a date that is sooner than the schedule', new Date(now + 2000).toUTCString(), 5000],
  ['a date that is past', new Date(now - hour).toUTCString(), 5000],
  ['an empty text', '', 5000],
  ['a word', 'soon', 5000],
  ['negative seconds', '-60', 5000],
  ['signed seconds', '+60', 5000],
  ['a fraction', '60.5', 5000],
  ['an exponent', '6e1', 5000],
  ['a unit', '60s', 5000],
  ['two values', '60, 120', 5000],
  ['two headers', ['60', '120'], 5000],
  ['an RFC 3339 date', inAnHour.toISOString(), 5000],
  ['a year after a weekday', 'Mon, 2099', 5000],
  ['a word before a year', 'Mon, soon 2099', 5000],
  ['a day that does not exist', `Mon, 31 Feb ${Number(year) + 1} 00:00:00 GMT`, 5000],
  ['an hour that does not exist', `Mon, 01 Jan ${Number(year) + 1} 25:00:00 GMT`, 5000],
  ['a date of another time zone', inAnHour.toUTCString().replace('GMT', 'PST'), 5000],
  ['a date without a time zone', inAnHour.toUTCString().replace(' GMT', ''), 5000]
]

for (const [title, value, waitMs] of headers) {
  t.test(`Retry-After with ${title} makes the wait ${waitMs / 1000} s`, async (t) => {
    const delivering = await startDelivering(t, { clock: createManualClock(now) })
    assertJitter(t, await waitAfter(delivering, 503, value), waitMs)
  })
}

for (const status of [301, 404, 429, 500]) {
  t.test(`a ${status} may carry Retry-After too`, async (t) => {
    const delivering = await startDelivering(t, { clock: createManualClock(now) })
    assertJitter(t, await waitAfter(delivering, status, '600'), 600_000)
  })
}

t.test('Retry-After does not lengthen the schedule by an attempt', async (t) => {
  const { drain, emit, lastDelivery, receiver, retry } = await startDelivering(t, { delivery: { retrySchedule: [0, 1] } })
  receiver.answer({ status: 503, headers: { 'retry-after': '60' } })
  await emit()
  await drain()
  await retry()
  t.match(await lastDelivery(), { status: 'failed', attempt_count: 2, next_attempt_at: null })
})

t.test('Retry-After on a success means nothing', async (t) => {
  const { drain, emit, log, receiver } = await startDelivering(t)
  receiver.answer({ status: 200, headers: { 'retry-after': '3600' } })
  await emit()
  await drain()
  await emit()
  await drain()
  t.match(await log(), [{ status: 'delivered' }, { status: 'delivered' }])
})

/** Milliseconds from a failed attempt to the next. */
async function waitAfter ({ clock, drain, emit, lastDelivery, receiver }: Delivering, status: number, value: string | string[]): Promise<number> {
  receiver.answer({ status, headers: { 'retry-after': value } as OutgoingHttpHeaders })
  await emit()
  await drain()
  return Date.parse(String((await lastDelivery()).next_attempt_at)) - clock.now()
}

function assertJitter (t: Test, actualMs: number, waitMs: number): void {
  t.ok(actualMs >= waitMs && actualMs <= waitMs * 1.2, `waits ${actualMs} ms`)
}
