import { createActions, tell } from './actions.js'
import { createApi } from './api.js'
import { createChart } from './chart.js'
import { createSegments, find } from './dom.js'
import { listen } from './feed.js'
import { createInbox } from './inbox.js'
import { createLists } from './lists.js'
import { createWebhooks } from './webhooks/webhooks.js'

const keptEntries = 400
const { receiverUrl, tenants, ...catalogue } = await (await fetch('/demo/setting')).json()

const actions = createActions()
const lists = createLists(catalogue)
const chart = createChart()
const webhooks = createWebhooks({ receiverUrl, onChange: () => inbox.settle() })
const inbox = createInbox({ webhooks })

let tenant = tenants[0]
let keyIndex = 0
let entries = []

const pressTenant = createSegments(find('#tenants'), tenants.map((value) => ({ value, label: value.slug })), (choice) => {
  tenant = choice
  return open()
})
const pressKey = createSegments(find('#keys'), tenant.keys.map(({ label }, value) => ({ value, label })), (choice) => {
  keyIndex = choice
  return open()
})

/** Shows the chosen tenant with the chosen key. */
async function open () {
  const { slug, keys } = tenant
  pressTenant(tenant)
  pressKey(keyIndex)
  for (const name of document.querySelectorAll('.tenant-name')) name.textContent = slug
  actions.open(slug)
  const api = createApi(slug, keys[keyIndex].key)
  await Promise.all([lists.open(api, tenant), webhooks.open(api, { slug, keyName: keys[keyIndex].key })])
  // The inbox always uses the key with full access, because it needs the log of deliveries.
  inbox.open(createApi(slug, keys[0].key))
  chart.clear()
  for (const entry of entries) show(entry, false)
  chart.draw()
}

function show (entry, isLive) {
  if (entry.kind === 'state') actions.show(entry)
  if (entry.tenantSlug !== tenant.slug) return
  if (entry.kind === 'arrival') inbox.addArrival(entry, isLive)
  if (entry.kind === 'attempt') {
    inbox.addAttempt(entry, isLive)
    chart.add(entry)
  }
  if (entry.kind === 'disable') webhooks.showDisabled(entry, isLive)
  if (entry.kind === 'news' && isLive) showNews(entry)
}

let reloading
function showNews ({ sentence, isBackground }) {
  if (isBackground) actions.showBackground(sentence)
  clearTimeout(reloading)
  reloading = setTimeout(lists.reload, 200)
}

addEventListener('unhandledrejection', () => tell('The demo does not answer. Is it still running?'))

await open()
listen({
  onEntry (entry, isLive) {
    entries = [...entries.slice(-keptEntries), entry]
    show(entry, isLive)
  },
  onState (state) {
    actions.show(state)
    chart.draw()
  }
})
