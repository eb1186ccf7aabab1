import { createDetail } from './detail.js'
import { formatTime, h } from './dom.js'

const ends = {
  cancelled: ['cancelled', 'the webhook was deleted'],
  skipped: ['skipped', 'the webhook is not active']
}

/** Creates the row of a delivery or a single request: event and name, attempts as dots, and outcome. */
export function createRow (entry, { api, webhooks, isLive }) {
  const { eventType, eventId, webhookId, deliveryId = null, atMs, arrival = entry } = entry
  const attempts = []
  const name = findName(arrival)
  const parts = Object.fromEntries(['dots', 'signature', 'target', 'remark', 'outcome'].map((name) => [name, h('span', { class: name })]))
  const inside = h('div', { class: 'inside' })
  const details = h('details', { toggle: fill },
    h('summary', {},
      h('span', { class: 'what' }, h('span', { class: 'type' }, eventType), name === '' ? null : ' · ', h('bdi', {}, name)),
      parts.outcome,
      h('span', { class: 'facts' }, parts.dots, parts.signature, parts.remark, parts.target),
      h('time', { datetime: new Date(atMs).toISOString() }, formatTime(atMs))
    ),
    inside
  )
  const element = h('li', { class: isLive ? 'fresh' : null }, details)
  const row = { element, webhookId, deliveryId, dueMs: null, addAttempt, finish, end, tick }

  function fill () {
    if (!details.open) return
    inside.replaceChildren(...createDetail({ eventId, webhookId, deliveryId, attempts, arrival: attempts.at(-1)?.arrival ?? arrival, api }))
  }

  function set (name, tone, text) {
    parts[name].className = `${name} ${tone}`
    parts[name].textContent = text
  }

  function addAttempt (attempt) {
    const { outcome, responseStatus, error, durationMs, retryInMs } = attempt
    attempts.push(attempt)
    row.dueMs = outcome === 'retry' ? attempt.atMs + retryInMs : null
    showRequest(attempt.arrival)
    showDots()
    set('remark', '', attempt.arrival?.isDuplicate ? 'duplicate, ignored' : '')
    if (outcome === 'retry') tick(Date.now())
    if (outcome === 'delivered') settleAs('good', `${responseStatus} in ${Math.round(durationMs)} ms`)
    if (outcome === 'failed') settleAs('bad', `${responseStatus ?? error}, given up`)
    fill()
  }

  /** Completes the row of a request that is not an attempt of a delivery. */
  function finish (request) {
    showRequest(request)
    settleAs(request.status < 300 ? 'good' : 'bad', request.isVerified ? String(request.status) : `${request.status}, refused`)
    if (request.isTest) set('remark', '', 'test')
    if (!request.isVerified) set('remark', 'bad', request.reason)
  }

  function end (status) {
    const [outcome, remark] = ends[status]
    row.dueMs = null
    showDots()
    settleAs('', outcome)
    set('remark', '', remark)
  }

  function tick (nowMs) {
    const seconds = Math.ceil((row.dueMs - nowMs) / 1000)
    const { responseStatus, error } = attempts.at(-1)
    settleAs('warn', `${responseStatus ?? error}, ${seconds > 0 ? `retry in ${seconds} s` : 'retrying'}`)
  }

  function settleAs (tone, text) {
    details.dataset.tone = tone
    set('outcome', tone, text)
  }

  function showRequest (request) {
    if (request === null) return
    const { isVerified, signatures, path } = request
    set('signature', isVerified ? 'good' : 'bad', isVerified ? (signatures > 1 ? `verified, ${signatures} signatures` : 'verified') : 'not verified')
    set('target', '', webhooks.areSeveral() ? `to ${webhooks.findName(webhookId) ?? path}` : '')
  }

  function showDots () {
    const tones = attempts.map(({ outcome }) => outcome)
    const label = attempts.map(({ responseStatus, error }) => responseStatus ?? error).join(', ')
    parts.dots.setAttribute('role', 'img')
    parts.dots.setAttribute('aria-label', `${attempts.length === 1 ? 'Attempt' : 'Attempts'}: ${label}${row.dueMs === null ? '' : ', and one to come'}`)
    parts.dots.replaceChildren(...[...tones, ...(row.dueMs === null ? [] : ['next'])].map((tone) => h('i', { class: tone })))
  }

  return row
}

/** Returns the name of the candidate or job of an event. */
function findName (arrival) {
  try {
    const { data } = JSON.parse(arrival.body)
    return data.candidate_name ?? data.full_name ?? data.name ?? ''
  } catch {
    return ''
  }
}
