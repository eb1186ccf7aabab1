import { tell } from '../actions.js'
import { postDemo, showRequest } from '../api.js'
import { confirm } from '../confirm.js'
import { find, formatCount, h } from '../dom.js'
import { createForm } from './webhook-form.js'
import { describeReplay, describeTest, formatUrl, whyDisabled } from './webhook-texts.js'

/** Shows the webhooks of a tenant, with a button for each operation of the API on them. */
export function createWebhooks ({ receiverUrl, onChange }) {
  const list = find('#webhooks')
  const form = createForm({ receiverUrl, create: (webhook) => act(null, () => api.post('/webhooks', webhook), handOver) })
  /** A note below each webhook: the result of the last action. */
  const notes = new Map()
  let api
  let keyName
  let webhooks = []

  async function load () {
    const { request, data = [], fault } = await api.get('/webhooks?per_page=200&sort=-id')
    webhooks = data
    const focusedId = document.activeElement?.id
    list.replaceChildren(...data.map(formatWebhook))
    if (focusedId) document.getElementById(focusedId)?.focus()
    find('#webhooks-empty').hidden = data.length > 0
    find('#webhooks-empty').textContent = fault === null ? 'No webhooks. Create one to receive events.' : `${fault}. The key ${keyName} lacks webhooks:read and webhooks:write.`
    form.setAvailable(fault === null)
    if (fault !== null) showRequest(find('#webhook-request'), request)
    return onChange()
  }

  /** Sends a request, shows it, and writes its result below the webhook. */
  async function act (id, send, describe) {
    const { request, data, fault } = await send()
    showRequest(find('#webhook-request'), request)
    const note = fault === null ? await describe(data) : [fault]
    if (id === null && fault !== null) tell(fault)
    else notes.set(id ?? data.id, note)
    await load()
    // A screen reader would miss the note itself, because it is replaced each time.
    find('#webhook-said').textContent = note.map((part) => part.textContent ?? part).join('')
  }

  async function handOver ({ id, target_url: url, secret }) {
    await postDemo('receiver/trust', { path: new URL(url).pathname.slice(1), webhookId: id, secret })
    return ['Its secret, shown only now: ', h('code', {}, secret), '. The receiver has it.']
  }

  async function countRetried (path) {
    const { data = [] } = await api.get(`${path}/deliveries?filter[status]=pending&per_page=200`)
    return data.filter(({ attempt_count: count }) => count > 0).length
  }

  async function replay (id, path) {
    const retried = await countRetried(path)
    await act(id, () => api.post(`${path}/replay`, { include: 'undelivered' }), ({ queued }) => [describeReplay(queued, retried)])
  }

  async function remove (id, path, name) {
    const retried = await countRetried(path)
    const isSure = await confirm({
      title: `Delete ${name}?`,
      text: `${retried === 0 ? '' : `${formatCount(retried, 'delivery is', 'deliveries are')} still being retried and will be cancelled. `}A deleted webhook cannot be restored.`,
      action: 'Delete the webhook'
    })
    if (!isSure) return
    await act(id, () => api.remove(path), () => {
      tell(`${name} was deleted.`)
      return []
    })
    find('#create-open').focus()
  }

  function formatWebhook ({ id, name, status, target_url: url, event_types: types }) {
    const path = `/webhooks/${id}`
    const isActive = status === 'active'
    const button = (label, click) => h('button', { type: 'button', class: 'small', id: `webhook-${id}-${label.replaceAll(' ', '-')}`, click }, label, h('span', { class: 'unseen' }, ` ${name}`))
    return h('li', {},
      h('div', { class: 'webhook-head' }, h('h3', {}, name), h('span', { class: `chip ${status}` }, status)),
      h('p', { class: 'under' }, h('code', {}, formatUrl(url)), ` · ${types.length === 1 ? types[0] : `${types.length} event types`}`),
      h('div', { class: 'buttons' },
        button('Send test', () => act(id, () => api.post(`${path}/dispatch_test`), describeTest)),
        button('Replay', () => replay(id, path)),
        button('Rotate secret', () => act(id, () => api.post(`${path}/rotate_secret`), async (webhook) => {
          return [...await handOver(webhook), ' For a day, deliveries carry a second signature with the old secret.']
        })),
        button(isActive ? 'Deactivate' : 'Activate', () => act(id, () => api.patch(path, { status: isActive ? 'inactive' : 'active' }), () => {
          return [isActive ? 'Inactive. Its events are recorded; a replay sends them later.' : 'Active again. Replay sends what it missed.']
        })),
        button('Delete', () => remove(id, path, name))
      ),
      h('p', { class: 'note' }, ...notes.get(id) ?? (status === 'disabled' ? [whyDisabled(null)] : []))
    )
  }

  return {
    open (nextApi, { slug, keyName: nextKeyName }) {
      api = nextApi
      keyName = nextKeyName
      notes.clear()
      find('#webhook-request').replaceChildren()
      form.open(slug)
      return load()
    },
    /** Shows that the service disabled a webhook. */
    showDisabled ({ webhookId, lastResponseStatus }, isLive) {
      if (!isLive) return
      notes.set(webhookId, [whyDisabled(lastResponseStatus)])
      load()
    },
    /** Returns whether rows must name the webhook. */
    areSeveral: () => webhooks.length > 1,
    findName: (id) => webhooks.find((webhook) => webhook.id === id)?.name
  }
}
