import { find } from './dom.js'
import { createRow } from './row.js'

const keptRows = 60
const overdueMs = 2000

/** Shows one row for each delivery, test or forged request. */
export function createInbox ({ webhooks }) {
  const list = find('#inbox')
  /** Rows of deliveries, by the id of the delivery. */
  const rows = new Map()
  let api
  let checkedMs = 0

  function add (entry, isLive) {
    const row = createRow(entry, { api, webhooks, isLive })
    list.prepend(row.element)
    find('#inbox-empty').hidden = true
    return row
  }

  function addAttempt (entry, isLive) {
    const row = rows.get(entry.deliveryId) ?? add(entry, isLive)
    rows.set(entry.deliveryId, row)
    row.addAttempt(entry, isLive)
    trim()
  }

  function addArrival (entry, isLive) {
    add(entry, isLive).finish(entry)
    trim()
  }

  function trim () {
    while (list.children.length > keptRows) list.lastElementChild.remove()
    for (const [id, { element }] of rows) if (!element.isConnected) rows.delete(id)
  }

  function listWaiting () {
    return [...rows.values()].filter(({ dueMs }) => dueMs !== null)
  }

  /** Looks up waiting deliveries in the log, because a deactivated or deleted webhook ends them without an attempt. */
  async function settle () {
    checkedMs = Date.now()
    const waiting = Map.groupBy(listWaiting(), ({ webhookId }) => webhookId)
    await Promise.all([...waiting].map(async ([webhookId, ofWebhook]) => {
      const { request, data = [] } = await api.get(`/webhooks/${webhookId}/deliveries?per_page=200`)
      const statuses = new Map(data.map(({ id, status }) => [id, status]))
      for (const row of ofWebhook) {
        const status = request.status === 404 ? 'cancelled' : statuses.get(row.deliveryId)
        if (row.dueMs !== null && (status === 'cancelled' || status === 'skipped')) row.end(status)
      }
    }))
  }

  setInterval(() => {
    const nowMs = Date.now()
    const waiting = listWaiting()
    for (const row of waiting) row.tick(nowMs)
    if (nowMs - checkedMs > overdueMs && waiting.some(({ dueMs }) => nowMs - dueMs > overdueMs)) settle()
  }, 500)

  return {
    open (nextApi) {
      api = nextApi
      rows.clear()
      list.replaceChildren()
      find('#inbox-empty').hidden = false
    },
    addAttempt,
    addArrival,
    settle
  }
}
