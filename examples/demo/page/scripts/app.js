import { createActions, tell } from './actions.js'
import { createAgents } from './agents.js'
import { createApi } from './api.js'
import { createSegments, find } from './dom.js'
import { listen } from './feed.js'
import { createLists } from './lists.js'
import { createPortal } from './portal.js'
import { createReceiver } from './receiver.js'

const keptEntries = 400
const { receiverUrl, retries, hasReferencePage, hasAgents, tenants, ...catalogue } = await (
  await fetch('/demo/setting')
).json()

const actions = createActions()
const receiver = createReceiver({ receiverUrl, retries })
const portal = createPortal()
const lists = createLists(catalogue)
const agents = createAgents({ hasAgents })

find('#reference').hidden = !hasReferencePage

let tenant = tenants[0]
let entries = []

const pressTenant = createSegments(
  find('#tenants'),
  tenants.map((value) => ({ value, label: value.slug })),
  (choice) => {
    tenant = choice
    return open()
  }
)

/** Shows the selected tenant. */
async function open () {
  const { slug, key } = tenant
  pressTenant(tenant)
  for (const name of document.querySelectorAll('.tenant-name')) name.textContent = slug
  actions.open(slug)
  receiver.open(slug)
  portal.open(slug)
  agents.open(slug)
  for (const entry of entries) show(entry, false)
  await lists.open(createApi(slug, key), tenant)
}

function show (entry, isLive) {
  if (entry.kind === 'state') showState(entry)
  // A request to an unknown path has no tenant: it appears for all tenants.
  if (entry.tenantSlug !== tenant.slug && tenants.some(({ slug }) => slug === entry.tenantSlug)) return
  if (entry.kind === 'arrival') receiver.add(entry, isLive)
  if (entry.kind === 'news' && isLive) showNews(entry)
}

function showState (state) {
  actions.showState(state)
  receiver.showState(state)
}

let reloading
function showNews ({ sentence, isBackground }) {
  if (isBackground) actions.showBackground(sentence)
  clearTimeout(reloading)
  reloading = setTimeout(lists.reload, 200)
}

addEventListener('unhandledrejection', () => tell('The demo does not respond. Is it still running?'))

await open()
listen({
  onEntry (entry, isLive) {
    entries = [...entries.slice(-keptEntries), entry]
    show(entry, isLive)
  },
  onState: showState
})
