import t from 'tap'
import { allEventTypes } from '../../../src/portal/page/api/all-event-types.js'
import { type Failure, noAnswer } from '../../../src/portal/page/api/failure.js'
import type { EventType, Webhook } from '../../../src/portal/page/api/types.js'
import { changesOf, checkDraft, explainRefusal, isChanged, readRefusal } from '../../../src/portal/page/screens/form/draft.js'
import { choose, groupOptions, optionsOf } from '../../../src/portal/page/screens/form/event-groups.js'

const draft = { name: 'CRM', targetUrl: 'https://hooks.example/x', eventTypes: ['job.closed', 'job.created'] }
const offered = new Set(draft.eventTypes)

t.test('a form is checked before it is sent', (t) => {
  t.strictSame(checkDraft(draft, offered), { name: undefined, targetUrl: undefined, eventTypes: undefined })
  t.strictSame(checkDraft({ name: ' ', targetUrl: ' ', eventTypes: [] }, offered), { name: 'nameBlank', targetUrl: 'urlBlank', eventTypes: 'eventsNone' })
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
    return readRefusal({ ...noAnswer('network'), code: 'bad_request', status: 400, details }, { ...draft, targetUrl }, (fault) => `own ${fault}`)
  }
  const none = { name: null, targetUrl: null, eventTypes: null }
  t.strictSame(refusal([]), none)
  t.strictSame(refusal([], 'http://hooks.example'), { ...none, targetUrl: 'own urlHttps' })
  const detail = (field: string) => ({ in: 'body' as const, field, message: `says ${field}` })
  t.strictSame(refusal([detail('target_url'), detail('event_types[1]'), detail('name')]), { name: 'says name', targetUrl: 'says target_url', eventTypes: 'says event_types[1]' })
  t.strictSame(refusal([detail('target_url')], 'http://hooks.example'), { ...none, targetUrl: 'own urlHttps' })
  t.strictSame(refusal([detail('name')], 'http://hooks.example'), { ...none, name: 'says name' })
  t.strictSame(readRefusal(null, draft, String), none)
  t.strictSame(readRefusal(noAnswer('timeout'), { ...draft, targetUrl: 'http://x' }, String), none)
  t.end()
})

t.test('only what was changed is sent; the order of the events is no change', (t) => {
  const webhook: Webhook = {
    id: 1, name: 'CRM', status: 'active', target_url: draft.targetUrl, event_types: ['job.created', 'job.closed'], created_at: '', updated_at: ''
  }
  const initial = { ...draft, eventTypes: webhook.event_types }
  t.strictSame(changesOf(draft, webhook), {})
  t.notOk(isChanged(draft, initial))
  t.strictSame(changesOf({ name: ' CRM 2 ', targetUrl: ' https://other.example/ ', eventTypes: ['job.closed', 'job.updated'] }, webhook), {
    name: 'CRM 2', target_url: 'https://other.example/', event_types: ['job.closed', 'job.updated']
  })
  for (const change of [{ name: 'x' }, { targetUrl: '' }, { eventTypes: ['job.closed'] }]) t.ok(isChanged({ ...draft, ...change }, initial), JSON.stringify(change))
  t.end()
})

const eventType = (name: string, description: string | null): EventType => ({ name, description, schema: {}, example: null })
const catalogue = [eventType('application.created', 'An application was created'), eventType('job.closed', null), eventType('job.created', 'A job was created')]

t.test('event types are grouped by their first part, and found by all words of a search', (t) => {
  const found = (search: string) => groupOptions(optionsOf(catalogue, []), search).map(({ name, options }) => [name, ...options.map((option) => option.name)])
  t.strictSame(found(''), [['application', 'application.created'], ['job', 'job.closed', 'job.created']])
  t.strictSame(found('CREATED  a job '), [['job', 'job.created']])
  t.strictSame(found('nothing'), [])
  t.end()
})

t.test('an event type that is not offered any more stays in the list of a webhook that has it', (t) => {
  const options = optionsOf(catalogue, ['job.closed', 'job.reopened'])
  t.strictSame(options.map(({ name, isOffered }) => [name, isOffered]), [['application.created', true], ['job.closed', true], ['job.created', true], ['job.reopened', false]])
  t.end()
})

t.test('choosing all of a group keeps those chosen before', (t) => {
  t.strictSame(choose(['b', 'x'], ['a', 'b'], true), ['b', 'x', 'a'])
  t.strictSame(choose(['b', 'x'], ['a', 'b'], false), ['x'])
  t.end()
})

t.test('the whole catalogue is read, page by page', async (t) => {
  const asked: unknown[] = []
  const api = {
    async listEventTypes (query: { page?: number, per_page?: number }) {
      asked.push(query)
      const { page = 0 } = query
      if (page > 3) return { value: null, failure: noAnswer('network') }
      return { value: { data: catalogue.slice(page - 1, page), meta: { page, per_page: 1, total: 3, total_pages: total } }, failure: null }
    }
  }
  let total = 3
  const { signal } = new AbortController()
  t.strictSame(await allEventTypes(api, signal), { value: catalogue, failure: null })
  t.strictSame(asked, [1, 2, 3].map((page) => ({ page, per_page: 200 })))
  total = 4
  t.strictSame(await allEventTypes(api, signal), { value: null, failure: noAnswer('network') })
})
