import t from 'tap'
import { type EventType, type Failure, type Webhook, noResponse } from '../../../src/portal/page/api.js'
import { changesOf, checkDraft, choose, explainRefusal, groupOptions, headersOf, isChanged, optionsOf, readRefusal } from '../../../src/portal/page/draft.js'

const draft = { name: 'CRM', targetUrl: 'https://hooks.example/x', eventTypes: ['job.closed', 'job.created'], headers: [], filters: [] }
const offered = new Set(draft.eventTypes)

t.test('a form is checked before it is sent', (t) => {
  t.strictSame(checkDraft(draft, offered), { name: undefined, targetUrl: undefined, eventTypes: undefined, headers: undefined, filters: undefined })
  t.strictSame(checkDraft({ name: ' ', targetUrl: ' ', eventTypes: [], headers: [{ name: 'X', value: '' }], filters: [{ path: 'data.id', values: '' }] }, offered), {
    name: 'nameBlank', targetUrl: 'urlBlank', eventTypes: 'eventsNone', headers: 'headersIncomplete', filters: 'filtersIncomplete'
  })
  t.equal(checkDraft({ ...draft, eventTypes: ['job.gone'] }, offered).eventTypes, 'eventsGone')
  t.equal(checkDraft({ ...draft, eventTypes: ['job.gone'] }, null).eventTypes, undefined)
  const faults = {
    'hooks.example': 'urlInvalid',
    'https://hooks example/': 'urlInvalid',
    'https://hooks.example/a b': 'urlInvalid',
    'mailto:a@hooks.example': 'urlInvalid',
    'ftp://hooks.example': 'urlHttps',
    'https://user@hooks.example': 'urlParts',
    'https://:password@hooks.example': 'urlParts',
    'https://hooks.example/#': 'urlParts',
    ' https://hooks.example ': undefined,
    // Some vendors allow it for development.
    'http://localhost:3000': undefined
  }
  for (const [targetUrl, fault] of Object.entries(faults)) t.equal(checkDraft({ ...draft, targetUrl }, offered).targetUrl, fault, targetUrl)
  t.end()
})

t.test('the reason why an address was refused is found where it can be seen', (t) => {
  const reasons = {
    'http://hooks.example': 'urlHttps',
    'https://10.0.0.1': 'urlPublic',
    'https://[::1]/': 'urlPublic',
    'https://intranet': 'urlPublic',
    'https://crm.internal': 'urlPublic',
    'https://hooks.example': undefined,
    'no address': undefined
  }
  for (const [url, reason] of Object.entries(reasons)) t.equal(explainRefusal(url), reason, url)
  t.end()
})

t.test('a refusal is told at its field, in the language of the page if the reason can be seen', (t) => {
  const refusal = (details: Failure['details'], targetUrl = draft.targetUrl) => {
    return readRefusal({ ...noResponse('network'), code: 'bad_request', status: 400, details }, { ...draft, targetUrl }, (fault) => `own ${fault}`)
  }
  const none = { name: null, targetUrl: null, eventTypes: null, headers: null, filters: null }
  t.strictSame(refusal([]), none)
  t.strictSame(refusal([], 'http://hooks.example'), { ...none, targetUrl: 'own urlHttps' })
  const detail = (field: string) => ({ in: 'body' as const, field, message: `says ${field}` })
  t.strictSame(refusal([detail('target_url'), detail('event_types[1]'), detail('name'), detail('headers.Host'), detail('filters.data.id[0]')]), {
    name: 'says name', targetUrl: 'says target_url', eventTypes: 'says event_types[1]', headers: 'says headers.Host', filters: 'says filters.data.id[0]'
  })
  t.strictSame(refusal([detail('target_url')], 'http://hooks.example'), { ...none, targetUrl: 'own urlHttps' })
  t.strictSame(refusal([detail('name')], 'http://hooks.example'), { ...none, name: 'says name' })
  t.strictSame(readRefusal(null, draft, String), none)
  t.strictSame(readRefusal(noResponse('timeout'), { ...draft, targetUrl: 'http://x' }, String), none)
  t.end()
})

t.test('only what was changed is sent; the order of the events is no change', (t) => {
  const webhook: Webhook = {
    id: 1, name: 'CRM', status: 'active', target_url: draft.targetUrl, event_types: ['job.created', 'job.closed'], headers: null, filters: null, created_at: '', updated_at: ''
  }
  const initial = { ...draft, eventTypes: webhook.event_types }
  t.strictSame(changesOf(draft, webhook, null), {})
  t.notOk(isChanged(draft, initial))
  t.strictSame(changesOf({ name: ' CRM 2 ', targetUrl: ' https://other.example/ ', eventTypes: ['job.closed', 'job.updated'], headers: null, filters: [] }, webhook, null), {
    name: 'CRM 2', target_url: 'https://other.example/', event_types: ['job.closed', 'job.updated']
  })
  for (const change of [{ name: 'x' }, { targetUrl: '' }, { eventTypes: ['job.closed'] }, { headers: [{ name: '', value: '' }] }, { filters: [{ path: '', values: '' }] }]) {
    t.ok(isChanged({ ...draft, ...change }, initial), JSON.stringify(change))
  }
  t.end()
})

const eventType = (name: string, description: string | null): EventType => ({ name, description, schema: {}, example: null })
const catalogue = [eventType('application.created', 'An application was created'), eventType('job.closed', null), eventType('job.created', 'A job was created')]

t.test('event types are grouped by their first part, and found by all words of a search', (t) => {
  const found = (search: string) => groupOptions(optionsOf(catalogue, [], 'en'), search).map(({ name, options }) => [name, ...options.map((option) => option.name)])
  t.strictSame(found(''), [['application', 'application.created'], ['job', 'job.closed', 'job.created']])
  t.strictSame(found('CREATED  a job '), [['job', 'job.created']])
  t.strictSame(found('nothing'), [])
  t.end()
})

t.test('an event type that is not offered any more stays in the list of a webhook that has it', (t) => {
  const options = optionsOf(catalogue, ['job.closed', 'job.reopened'], 'en')
  t.strictSame(options.map(({ name, isOffered }) => [name, isOffered]), [['application.created', true], ['job.closed', true], ['job.created', true], ['job.reopened', false]])
  t.end()
})

t.test('headers are checked, sent without empty ones, and kept unless they are replaced', (t) => {
  const faults = { 'X-Api-Key': undefined, '': 'headersIncomplete', 'X Api': 'headersName', ['x'.repeat(65)]: 'headersName', Größe: 'headersName' }
  for (const [name, fault] of Object.entries(faults)) t.equal(checkDraft({ ...draft, headers: [{ name, value: '1' }] }, offered).headers, fault, name)
  t.equal(checkDraft({ ...draft, headers: [{ name: ' ', value: '' }] }, offered).headers, undefined)
  t.equal(checkDraft({ ...draft, headers: null }, offered).headers, undefined)
  t.strictSame(headersOf([{ name: ' X-Api-Key ', value: ' a b ' }, { name: '', value: '' }]), { 'X-Api-Key': 'a b' })
  t.equal(headersOf([{ name: '', value: ' ' }]), null)
  const without: Webhook = { id: 1, name: 'CRM', status: 'active', target_url: draft.targetUrl, event_types: draft.eventTypes, headers: null, filters: null, created_at: '', updated_at: '' }
  const having = { ...without, headers: { 'X-Api-Key': null } }
  const given = [{ name: 'X-Token', value: '1' }]
  t.strictSame([changesOf({ ...draft, headers: [] }, without, null), changesOf({ ...draft, headers: null }, having, null)], [{}, {}])
  t.strictSame([changesOf({ ...draft, headers: given }, without, null), changesOf({ ...draft, headers: given }, having, null)], [{ headers: { 'X-Token': '1' } }, { headers: { 'X-Token': '1' } }])
  t.strictSame(changesOf({ ...draft, headers: [] }, having, null), { headers: null })
  t.end()
})

t.test('filters are sent if they were changed; without any, null is sent', (t) => {
  const filters = { 'data.stage': ['Offer'], 'data.job_id': [7] }
  const webhook: Webhook = { id: 1, name: 'CRM', status: 'active', target_url: draft.targetUrl, event_types: draft.eventTypes, headers: null, filters, created_at: '', updated_at: '' }
  t.strictSame(changesOf(draft, webhook, { ...filters }), {})
  t.strictSame(changesOf(draft, webhook, { 'data.stage': ['Offer'] }), { filters: { 'data.stage': ['Offer'] } })
  t.strictSame(changesOf(draft, webhook, null), { filters: null })
  t.end()
})

t.test('a deprecated event type can be chosen, and says that it is deprecated', (t) => {
  const deprecated = { since: '2026-03-01T00:00:00.000Z', sunset: null, link: null }
  const [option, other] = optionsOf([{ name: 'job.old', description: null, schema: {}, example: null, deprecated }, { name: 'job.new', description: null, schema: {}, example: null }], [], 'en')
  t.match(option, { name: 'job.old', isOffered: true, deprecated })
  t.equal(other?.deprecated, undefined)
  t.end()
})

t.test('an event type is described in the language of the page, if the vendor does so', (t) => {
  const descriptions = { de: 'Stelle', 'de-CH': 'Stell' }
  const type: EventType = { name: 'job.new', description: 'A job', descriptions, schema: {}, example: null }
  t.strictSame(['en', 'de', 'de-AT', 'de-CH'].map((locale) => optionsOf([type], [], locale)[0]?.description), ['A job', 'Stelle', 'Stelle', 'Stell'])
  t.end()
})

t.test('choosing all of a group keeps those chosen before', (t) => {
  t.strictSame(choose(['b', 'x'], ['a', 'b'], true), ['b', 'x', 'a'])
  t.strictSame(choose(['b', 'x'], ['a', 'b'], false), ['x'])
  t.end()
})
