import { createApi, postDemo } from '../scripts/api.js'
import { createSegments, find, formatTime, h } from '../scripts/dom.js'

const { receiverUrl, tenants } = await (await fetch('/demo/setting')).json()

let chosen = { tenant: tenants[0].slug, actor: 'admin', locale: 'en' }
let frame = null

const presses = {
  tenant: createSegments(find('#tenants'), tenants.map(({ slug }) => ({ value: slug, label: slug })), choose('tenant')),
  actor: createSegments(find('#actors'), [{ value: 'admin', label: 'Admin' }, { value: 'reader', label: 'Reader' }], choose('actor')),
  locale: createSegments(find('#locales'), [{ value: 'en', label: 'English' }, { value: 'de', label: 'German' }], choose('locale'))
}

function choose (name) {
  return (value) => {
    chosen = { ...chosen, [name]: value }
    return open()
  }
}

/** Opens the portal for the chosen person, in a new frame. */
async function open () {
  for (const [name, press] of Object.entries(presses)) press(chosen[name])
  find('.tenant-name').textContent = chosen.tenant
  find('#address').textContent = `${receiverUrl}/${receiverPath()}`
  find('#said').textContent = ''
  const opening = chosen
  const url = await createSession()
  if (opening !== chosen) return
  frame = h('iframe', { title: 'Webhooks', allow: 'clipboard-write', src: url })
  find('#portal').replaceChildren(frame)
}

async function createSession () {
  const { url, expiresAt } = await postDemo('portal/session', chosen)
  find('#session').textContent = `Their session ends at ${formatTime(Date.parse(expiresAt))}. Before that, this page gives the portal another one.`
  return url
}

// The portal asks for another session a minute before the end.
addEventListener('message', async ({ source, data }) => {
  if (source !== frame?.contentWindow || data.type !== 'recruiting-webhooks:session-needed') return
  source.postMessage({ type: 'recruiting-webhooks:session', url: await createSession() }, new URL(frame.src).origin)
})

function receiverPath () {
  return `${chosen.tenant}/portal`
}

find('#trust').addEventListener('submit', async (event) => {
  event.preventDefault()
  const { tenant } = chosen
  const path = receiverPath()
  const { keys: [{ key }] } = tenants.find(({ slug }) => slug === tenant)
  const { data } = await createApi(tenant, key).get('/webhooks?per_page=100')
  const webhook = data.find(({ target_url: url }) => url === `${receiverUrl}/${path}`)
  if (webhook !== undefined) await postDemo('receiver/trust', { path, webhookId: webhook.id, secret: event.target.elements.secret.value })
  event.target.reset()
  find('#said').textContent = webhook === undefined
    ? `No webhook of ${tenant} has the address ${receiverUrl}/${path}.`
    : `The receiver verifies ${webhook.name} now. Send a test, or replay what failed.`
})

addEventListener('unhandledrejection', () => { find('#said').textContent = 'The demo does not answer. Is it still running?' })

await open()
