import { showRequest } from './api.js'
import { find, h } from './dom.js'

/** The webhooks of a tenant, and what can be done with them. */
export function createWebhooks ({ receiverUrl, tell }) {
  const list = find('#webhooks')
  const form = find('#create')
  const open = find('#create-open')
  let api
  let slug
  let webhooks = []
  const notes = new Map()

  async function load () {
    const { data = [] } = await api.get('/webhooks?per_page=200&sort=-id')
    webhooks = data
    const focused = document.activeElement?.id
    list.replaceChildren(...data.map(formatWebhook))
    if (focused) document.getElementById(focused)?.focus()
  }

  /** Makes a request, shows it, and says below the webhook what came of it. */
  async function act (id, send, describe) {
    const { request, data, fault } = await send()
    showRequest(find('#webhook-request'), request)
    if (fault === null) notes.set(id ?? data.id, await describe(data))
    else if (id === null) tell(fault)
    else notes.set(id, [fault])
    await load()
    // Read aloud from here: the line itself is made anew each time.
    find('#webhook-said').textContent = (notes.get(id ?? data?.id) ?? []).map((part) => part.textContent ?? part).join('')
  }

  async function handOver ({ target_url: url, secret }) {
    await tell.post('/demo/receiver/trust', { path: pathOf(url), secret })
  }

  function formatWebhook ({ id, name, status, target_url: url, event_types: types }) {
    const path = `/webhooks/${id}`
    const isActive = status === 'active'
    const button = (label, click, title) => h('button', { type: 'button', id: `webhook-${id}-${label.replaceAll(' ', '-')}`, title, click }, label, h('span', { class: 'unseen' }, ` ${name}`))
    return h('li', {},
      h('div', { class: 'webhook-head' }, h('h3', {}, name), h('span', { class: `chip ${status}` }, isActive ? 'active' : status === 'inactive' ? 'paused' : status)),
      h('p', { class: 'under' }, h('code', {}, url), ` · ${types.length === 1 ? types[0] : `${types.length} events`}`),
      h('div', { class: 'buttons' },
        button('Send a test', () => act(id, () => api.post(`${path}/dispatch_test`), describeTest)),
        button('Rotate secret', () => act(id, () => api.post(`${path}/rotate_secret`), async (webhook) => {
          await handOver(webhook)
          return ['The new secret, shown this once: ', h('code', {}, webhook.secret), '. The receiver has it. For a day deliveries carry a signature of the old one, too.']
        })),
        button(isActive ? 'Pause' : 'Resume', () => act(id, () => api.patch(path, { status: isActive ? 'inactive' : 'active' }), () => {
          return [isActive ? 'Paused. What happens now is recorded; a replay brings it.' : 'Active again. Replay what it missed.']
        })),
        button('Replay', () => act(id, () => api.post(`${path}/replay`, { include: 'undelivered' }), ({ queued }) => {
          return [queued === 0 ? 'Nothing to replay: everything has been delivered.' : `${queued} queued: what was given up or skipped goes out once more.`]
        })),
        button('Delete', () => act(id, () => api.remove(path), () => []))
      ),
      h('p', { class: 'note' }, ...notes.get(id) ?? [])
    )
  }

  open.addEventListener('click', () => {
    form.hidden = !form.hidden
    open.setAttribute('aria-expanded', String(!form.hidden))
    if (!form.hidden) form.elements.name.select()
  })
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const { name, events } = form.elements
    // A receiver of its own for each: the path tells which one something came to.
    const path = `${slug}/${Math.random().toString(36).slice(2, 8)}`
    const { webhooks: catalogue } = await (await fetch('/api/v1/public/openapi.json')).json()
    await act(null, () => api.post('/webhooks', {
      name: name.value,
      target_url: `${receiverUrl}/${path}`,
      event_types: Object.keys(catalogue).filter((type) => type.startsWith(events.value))
    }), async (webhook) => {
      await handOver(webhook)
      return ['Created. Its secret, shown this once: ', h('code', {}, webhook.secret), '. The receiver has it.']
    })
    form.hidden = true
    open.setAttribute('aria-expanded', 'false')
    open.focus()
  })

  return {
    open (nextApi, nextSlug) {
      api = nextApi
      slug = nextSlug
      notes.clear()
      return load()
    },
    load,
    /** The path of the receiver that a webhook points to; `null` for one that is not known here. */
    pathOf (id) {
      const webhook = webhooks.find((known) => known.id === id)
      return webhook === undefined ? null : pathOf(webhook.target_url)
    },
    /** Whether a line has to say where it went. */
    areSeveral: () => webhooks.length > 1,
    nameOf: (path) => webhooks.find(({ target_url: url }) => pathOf(url) === path)?.name ?? path
  }
}

function describeTest ({ status, response_status: answer, duration_ms: ms, error }) {
  return [status === 'delivered' ? `Delivered: ${answer} in ${ms} ms.` : `Failed: ${answer ?? error} after ${ms} ms.`]
}

function pathOf (url) {
  return new URL(url).pathname.slice(1)
}
