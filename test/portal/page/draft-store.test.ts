import t from 'tap'
import type { Draft } from '../../../src/portal/page/draft.js'
import { createDraftStore, tabStorage } from '../../../src/portal/page/draft-store.js'

const empty: Draft = { name: '', targetUrl: '', eventTypes: [], headers: [], filters: [] }
const draft: Draft = { name: 'CRM', targetUrl: 'https://hooks.example/', eventTypes: ['job.created'], headers: [], filters: [{ path: 'data.id', values: '7' }] }

/** A storage of a tab, with a clock. */
function start () {
  const entries = new Map<string, string>()
  const tab = {
    getItem: (key: string) => entries.get(key) ?? null,
    setItem: (key: string, value: string) => { entries.set(key, value) },
    removeItem: (key: string) => { entries.delete(key) }
  }
  const clock = { time: 0 }
  return { entries, tab, clock, open: (scope = '/acme') => createDraftStore({ tab, scope, now: () => clock.time }) }
}

t.test('a draft is found again by its form and tenant alone, for an hour', (t) => {
  const { open, clock } = start()
  open().keep('new', draft)
  t.strictSame(open().find('new', empty), draft)
  t.equal(open().find('7', empty), null)
  t.equal(open('/globex').find('new', empty), null)
  clock.time = 3_600_000
  t.strictSame(open().find('new', empty), draft)
  clock.time += 1
  t.equal(open().find('new', empty), null)
  t.end()
})

t.test('a draft that was saved or left is gone', (t) => {
  const { open, entries } = start()
  open().keep('new', draft)
  open().drop('new')
  t.equal(open().find('new', empty), null)
  t.equal(entries.size, 0)
  t.end()
})

t.test('values of headers are kept nowhere, their names are', (t) => {
  const { open, entries } = start()
  open().keep('7', { ...draft, headers: [{ name: 'X-Api-Key', value: 'hush' }] })
  t.notMatch([...entries].join(), 'hush')
  t.strictSame(open().find('7', empty)?.headers, [{ name: 'X-Api-Key', value: '' }])
  open().keep('7', { ...draft, headers: null })
  t.equal(open().find('7', { ...empty, headers: null })?.headers, null, 'those of the webhook stay')
  const { headers } = empty
  open().keep('7', draft)
  t.equal(open().find('7', empty)?.headers, headers, 'a form without any is as it was')
  t.end()
})

t.test('what another script wrote there is ignored', (t) => {
  const { open, entries } = start()
  open().keep('new', draft)
  const [[key = ''] = []] = [...entries]
  const kept = { at: 0, draft: { name: '', targetUrl: '', eventTypes: [], headerNames: null, filters: [] } }
  entries.set(key, JSON.stringify(kept))
  t.strictSame(open().find('new', empty), empty)
  for (const wrong of ['{', 'null', '{}', ...[{ name: 1 }, { targetUrl: null }, { eventTypes: 'a' }, { eventTypes: [1] }, { headerNames: [1] }, { filters: null }, { filters: [null] }, { filters: [{ path: 'data.id', values: 7 }] }].map((part) => JSON.stringify({ at: 0, draft: { ...kept.draft, ...part } })), JSON.stringify({ ...kept, at: '0' })]) {
    entries.set(key, wrong)
    t.equal(open().find('new', empty), null, wrong)
  }
  t.end()
})

t.test('a full storage keeps nothing and fails nothing', (t) => {
  const { tab } = start()
  const drafts = createDraftStore({ tab: { ...tab, setItem () { throw new Error('full') } }, scope: '/acme', now: () => 0 })
  drafts.keep('new', draft)
  t.equal(drafts.find('new', empty), null)
  t.end()
})

t.test('without a storage of the tab, the page keeps drafts in its memory', (t) => {
  const drafts = createDraftStore({ tab: tabStorage(), scope: '/acme', now: () => 0 })
  drafts.keep('new', draft)
  t.strictSame(drafts.find('new', empty), draft)
  drafts.drop('new')
  t.equal(drafts.find('new', empty), null)
  t.end()
})

t.test('a browser that refuses the storage of the tab keeps drafts in the memory of the page', (t) => {
  Object.defineProperty(globalThis, 'sessionStorage', { configurable: true, get () { throw new Error('SecurityError') } })
  t.teardown(() => Reflect.deleteProperty(globalThis, 'sessionStorage'))
  const store = createDraftStore({ tab: tabStorage(), scope: '/refused', now: () => 0 })
  store.keep('new', draft)
  t.strictSame(store.find('new', empty), draft)
  store.drop('new')
  t.equal(store.find('new', empty), null)
  t.end()
})
