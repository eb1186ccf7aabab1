import type { EventFilters } from '../../../core/ports/index.js'
import { type StorageDriver, benchCases, eventIds, statuses } from '../support/driver.js'
import { given, same } from '../support/expect.js'
import { delivered, failed, firstRows } from '../support/samples.js'

const test = benchCases('deliveries')
const webhooksTest = benchCases('webhooks')

const job7: EventFilters = { 'data.job_id': [7] }

/** Returns the body of an event with this JSON as its data. */
function withData (data: string): string {
  return `{"id":"evt","data":${data}}`
}

/** Returns the bodies that match, by recording them for a webhook with the filters. */
async function match (
  { addWebhook, emit, log, webhooks }: StorageDriver, filters: EventFilters, bodies: readonly string[]
): Promise<string[]> {
  const webhook = await addWebhook({ filters })
  const matching = []
  for (const body of bodies) {
    const { id, deliveries } = await emit({ body })
    const isLogged = (await log(webhook)).some(({ event_id: eventId }) => eventId === id)
    same(isLogged, deliveries === 1, `whether the log has a delivery of ${body}, and whether record counts one`)
    if (isLogged) matching.push(body)
  }
  await webhooks.delete('acme', webhook.id)
  return matching
}

export const eventFilterCases = [
  webhooksTest('create', 'a webhook shows its filters in the order they were given', async (t) => {
    const filters: EventFilters = {
      'data.zeta': ['b', 'a', 'é\u{1f600}\n"\\', 2, 1.5, -1, true, false, null], 'data.a.b.c.d': [0]
    }
    const text = JSON.stringify(filters)
    const created = await t.addWebhook({ filters })
    const without = [await t.addWebhook(), await t.addWebhook({ filters: null })]
    for (const values of Object.values(filters)) values.length = 0
    const rotated = await t.webhooks.rotateSecret('acme', created.id, { secret: 'new', gracePeriodSeconds: 0 })
    const [listed] = await t.webhooks.list('acme', firstRows)
    const found = await t.webhooks.find('acme', created.id)
    same([created, rotated, listed, found].map((webhook) => JSON.stringify(webhook?.filters)), [text, text, text, text],
      'the filters that create, rotateSecret, list and find return')
    for (const values of Object.values(found?.filters ?? {})) values.length = 0
    same(JSON.stringify((await t.webhooks.find('acme', created.id))?.filters), text,
      'the filters after the caller changed them')
    same(without.map((webhook) => webhook.filters), [null, null], 'the filters of webhooks without any')
  }),

  webhooksTest('update', 'other changes keep filters, new filters replace them all, null removes them', async (t) => {
    const { id } = await t.addWebhook({ filters: job7 })
    same((await t.webhooks.update('acme', id, { name: 'Renamed', headers: null, status: 'active' }))?.filters, job7,
      'the filters after another change')
    const others: EventFilters = { 'data.stage': ['offer'] }
    same((await t.webhooks.update('acme', id, { filters: others }))?.filters, others, 'the filters after a change')
    same((await t.webhooks.update('acme', id, { filters: null }))?.filters, null, 'the filters after null')
    same((await t.webhooks.find('acme', id))?.filters, null, 'the filters found after null')
  }),

  test('webhooks.update', 'changed filters apply to later events, not to pending deliveries', async (t) => {
    const { id } = await t.addWebhook({ filters: job7 })
    await t.emit({ body: withData('{"job_id":7}') })
    await t.webhooks.update('acme', id, { filters: { 'data.job_id': [8] } })
    await t.emit({ body: withData('{"job_id":7}') })
    await t.emit({ body: withData('{"job_id":8}') })
    await t.webhooks.update('acme', id, { filters: null })
    await t.emit({ body: withData('{"job_id":9}') })
    same(eventIds(await t.claim()), ['evt_1', 'evt_3', 'evt_4'], 'the claimed deliveries')
  }),

  test('record',
    'an event creates no delivery, not even a skipped one, if it does not match the filters', async (t) => {
      const plain = await t.addWebhook()
      const filtered = await t.addWebhook({ filters: job7 })
      const inactive = await t.addWebhook({ filters: job7, status: 'inactive' })
      const otherType = await t.addWebhook({ filters: job7, event_types: ['job.created'] })
      const body = withData('{"job_id":8}')
      same((await t.emit({ body, idempotencyKey: 'once' })).deliveries, 1,
        'the deliveries of an event that does not match')
      same((await t.emit({ body: withData('{"job_id":7}'), idempotencyKey: 'twice' })).deliveries, 2,
        'the deliveries of one that matches')
      same((await t.emit({ body, idempotencyKey: 'once' })).deliveries, 1,
        'the deliveries of the first one, by its idempotency key')
      const logs = await Promise.all([plain, filtered, inactive, otherType].map((webhook) => t.log(webhook)))
      same(logs.map(statuses), [['pending', 'pending'], ['pending'], ['skipped'], []], 'the logs')
      const matching = withData('{"job_id":7}')
      same((await t.claim()).map(({ webhookId, eventId, body }) => [webhookId, eventId, body]).toSorted(),
        [[plain.id, 'evt_1', body], [plain.id, 'evt_2', matching], [filtered.id, 'evt_2', matching]].toSorted(),
        'the claimed deliveries, with their bodies')
    }),

  test('record', 'every path must have one of its values, of the same type', async (t) => {
    const both = ['{"job_id":7,"stage":"offer"}', '{"stage":"offer","job_id":8}'].map(withData)
    const one = [
      '{"job_id":7}', '{"stage":"offer"}', '{"job_id":9,"stage":"offer"}', '{"job_id":7,"stage":"Offer"}'
    ].map(withData)
    same(await match(t, { 'data.job_id': [7, 8], 'data.stage': ['offer'] }, [...both, ...one]), both,
      'the bodies that match two paths')

    const bodies = [
      '1', '1.0', '10e-1', '"1"', 'true', 'false', 'null', '""', '0', '-0', '" 1"', '"true"', '"null"',
      '9007199254740991', '"é"', '"e\\u0301"', '1.5'
    ].map((value) => withData(`{"x":${value}}`))
    const expected: Array<[EventFilters[string], number[]]> = [
      [[1], [0, 1, 2]], [['1'], [3]], [[true], [4]], [[false], [5]], [[null], [6]], [[''], [7]], [[0], [8, 9]],
      [['true', 'null'], [11, 12]], [[9007199254740991], [13]], [['é'], [14]], [[1.5, 'none', false], [5, 16]]
    ]
    for (const [values, indexes] of expected) {
      same(await match(t, { 'data.x': values }, bodies), indexes.map((index) => bodies[index]),
        `the bodies that match ${JSON.stringify(values)}`)
    }
  }),

  test('record', 'paths lead into objects only, and a missing field counts as null', async (t) => {
    const deep = [withData('{"a":{"b":{"c":{"d":1}}}}')]
    const not = [
      '{"a":{"b":{"c":{"d":[1]}}}}', '{"a":[{"b":{"c":{"d":1}}}]}', '{"a":{"b":{"c":{"d":{"e":1}}}}}', '[]', '1',
      '"a"'
    ].map(withData)
    same(await match(t, { 'data.a.b.c.d': [1] }, [...deep, ...not]), deep, 'the bodies that match a path of five names')

    const list = ['{"a":[1]}', '{"a":{"0":[1]}}', '[1]'].map(withData)
    const named = [withData('{"a":{"0":1}}')]
    same(await match(t, { 'data.a.0': [1] }, [...list, ...named]), named,
      'the bodies that match a name that looks like an index')

    const nowhere = [
      ...['{}', '{"a":null}', '{"a":1}', '{"a":[{"b":null}]}', '{"a":{"b":null}}', 'null', '[]', '1'].map(withData),
      '{"id":"evt"}', '{}', ''
    ]
    const there = ['{"a":{"b":0}}', '{"a":{"b":[]}}', '{"a":{"b":{}}}', '{"a":{"b":[null]}}', '{"a":{"b":""}}'].map(
      withData
    )
    same(await match(t, { 'data.a.b': [null] }, [...nowhere, ...there]), nowhere, 'the bodies that match null')
    same(await match(t, { 'data.a.b': [''] }, [...nowhere, ...there]), there.slice(4),
      'the bodies that match empty text')

    const strange = [withData('{"__proto__":{"length":1},"two words\\"é%_":1}')]
    same(await match(t, { 'data.__proto__.length': [1], 'data.two words"é%_': [1] }, strange), strange,
      'the body that matches unusual names')
    same(await match(t, { 'data.constructor.length': [1] }, [withData('{}')]), [],
      'the bodies that match a name that every object in JavaScript has')
  }),

  test('record', 'bodies can contain NUL and lone surrogates, which equal no value', async (t) => {
    const bodies = ['\\u0000', 'a\\u0000b', '\\ud83d', '\\ude00a', '\\uD83D\\ud83d\\ude00', '\\ud83d\\u0000\\ude00']
      .flatMap((text) => [withData(`{"id":1,"x":"${text}"}`), withData(`{"id":1,"${text}":{"x":"y"}}`)])
    same(await match(t, { 'data.id': [1] }, bodies), bodies, 'the bodies that match by another value')
    const near = ['', '?', '\ufffd', '\\u0000', 'a', 'ab', 'a?b', '\u{1f600}', '\ufffd\u{1f600}', '\\ud83d']
    same(await match(t, { 'data.x': near }, bodies), [], 'the bodies that match similar values')

    const wellFormed = ['\\\\u0000', '\\\\\\\\ud83d', '\\ud83d\\ude00', '\u{1f600}', '\\\\\\ud83d\\ude00'].map((text) =>
      withData(`{"x":"${text}","y":"\\u0000"}`)
    )
    same(await match(t, { 'data.x': ['\\u0000', '\\\\ud83d', '\u{1f600}', '\\\u{1f600}'] }, wellFormed), wellFormed,
      'the bodies that match despite escapes')
  }),

  test('replay', 'a replay and its count apply the current filters', async (t) => {
    const webhook = await t.addWebhook()
    for (const job of [7, 8, 7]) await t.emit({ body: withData(`{"job_id":${job}}`) })
    await t.recordAttempts((await t.claimAll(3)).map((lease) => failed(lease)))
    await t.webhooks.update('acme', webhook.id, { filters: job7 })
    await t.emit({ body: withData('{"job_id":8}') })
    same(await t.countReplay(webhook, { include: 'all', limit: 1 }), { queued: 1, truncated: true },
      'the count of a replay of one event')
    for (const include of ['undelivered', 'all'] as const) {
      same(await t.countReplay(webhook, { include }), { queued: 2, truncated: false },
        `the count of a replay of ${include}`)
    }
    same(await t.replay(webhook), { queued: 2, truncated: false }, 'the result of a replay')
    const claimed = await t.claim()
    same(eventIds(claimed), ['evt_1', 'evt_3'], 'the claimed deliveries')
    await t.recordAttempts(claimed.map(delivered))
    same(await t.replay(webhook, { include: 'all', eventIds: ['evt_2', 'evt_4'] }), { queued: 0, truncated: false },
      'the replay of events that do not match')
    await t.webhooks.update('acme', webhook.id, { filters: { 'data.job_id': [8] } })
    same(await t.replay(webhook, { include: 'all' }), { queued: 2, truncated: false },
      'a replay after the filters have changed')
    same(eventIds(await t.claim()), ['evt_2', 'evt_4'], 'the deliveries claimed then')
  }),

  test('record', 'a webhook with changed gets only events in which one of these fields changed', async (t) => {
    const webhook = await t.addWebhook({ changed: ['stage_id', 'zoë "x"'] })
    const both = await t.addWebhook({ changed: ['stage_id'], filters: job7 })
    const bodies = [
      '{"changed":["notes","stage_id"],"data":{"job_id":7}}', '{"changed":["notes"],"data":{"job_id":7}}',
      '{"changed":["stage_id"],"data":{"job_id":8}}', '{"changed":["zoë \\"x\\""]}', '{"changed":[]}',
      '{"changed":"stage_id"}', '{"data":{"changed":["stage_id"]}}', ''
    ]
    for (const body of bodies) await t.emit({ body })
    const sent = await t.claim()
    const eventsOf = ({ id }: { id: number }) => eventIds(sent.filter(({ webhookId }) => webhookId === id)).sort()
    same([eventsOf(webhook), eventsOf(both)], [['evt_1', 'evt_3', 'evt_4'], ['evt_1']], 'the events that are sent')
    await t.recordAttempts(sent.map(delivered))
    same(await t.replay(webhook, { include: 'all' }), { queued: 3, truncated: false }, 'the replay')
    const changes = [['notes'], undefined, null].map((changed) => changed === undefined ? { name: 'x' } : { changed })
    const shown = []
    for (const change of changes) shown.push((await t.webhooks.update('acme', webhook.id, change))?.changed)
    same([webhook.changed, ...shown], [['stage_id', 'zoë "x"'], ['notes'], ['notes'], null], 'changed after updates')
    same((await t.webhooks.find('acme', both.id))?.changed, ['stage_id'], 'the changed of another webhook')
  }),

  test('retry', 'a retry ignores the filters', async (t) => {
    const webhook = await t.addWebhook()
    await t.emit({ body: withData('{"job_id":8}') })
    await t.complete(failed)
    await t.webhooks.update('acme', webhook.id, { filters: job7 })
    const [delivery] = await t.log(webhook)
    same((await t.deliveries.retry('acme', webhook.id, given(delivery, 'the log has the delivery').id)) === null, false,
      'whether the retry found nothing')
    same((await t.claimOne()).eventId, 'evt_1', 'the event that is sent again')
  })
]
