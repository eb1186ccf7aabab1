import { find, formatTime, h } from './dom.js'

const keptRows = 60

/** The right side: a line for each attempt, as the receiver and the sender tell of it. */
export function createInbox ({ pathOf, nameOf, areSeveral, isLive }) {
  const list = find('#inbox')
  /** Lines that wait for the sender's word, and lines that wait for the next attempt. */
  let open = []
  let waiting = []

  function arrive ({ path, eventId, eventType, isTest, isVerified, reason, signatures, isKnown, status, body, atMs }) {
    settleWaiting(path, eventId)
    const line = createLine({ path, eventId, eventType, atMs, body })
    line.show('signature', isVerified ? 'good' : 'bad', isVerified ? (signatures > 1 ? `verified, ${signatures} signatures` : 'verified') : 'not verified')
    if (isTest) line.show('attempt', 'plain', 'test')
    if (isKnown) line.show('remark', 'plain', 'came before, so nothing to do')
    if (!isVerified) line.show('remark', 'bad', reason)
    line.finish(status < 300 ? 'good' : 'bad', String(status))
    if (!isTest && isVerified) open.push(line)
  }

  function attempt ({ webhookId, eventId, eventType, attempt: number, durationMs, responseStatus, error, outcome, retryInMs, atMs }) {
    const path = pathOf(webhookId)
    const matching = open.find((line) => line.eventId === eventId && (path === null || line.path === path))
    open = open.filter((line) => line !== matching)
    const line = matching ?? createLine({ path: path ?? '', eventId, eventType, atMs, body: '' })
    line.show('attempt', 'plain', `attempt ${number}`)
    line.finish(outcome === 'delivered' ? 'good' : outcome === 'retry' ? 'warn' : 'bad', `${responseStatus ?? error} in ${Math.round(durationMs)} ms`)
    if (outcome === 'failed') line.show('remark', 'bad', 'given up, can be replayed')
    if (outcome !== 'retry') return
    line.dueMs = atMs + retryInMs
    waiting.push(line)
    tick()
  }

  function settleWaiting (path, eventId) {
    for (const line of waiting.filter((known) => known.path === path && known.eventId === eventId)) line.show('remark', 'plain', 'tried again')
    waiting = waiting.filter((line) => line.path !== path || line.eventId !== eventId)
  }

  function tick () {
    for (const line of waiting) {
      const seconds = Math.ceil((line.dueMs - Date.now()) / 1000)
      line.show('remark', 'warn', seconds > 0 ? `next attempt in ${seconds} s` : 'next attempt now')
    }
  }

  function createLine ({ path, eventId, eventType, atMs, body }) {
    const parts = Object.fromEntries(['signature', 'attempt', 'remark', 'outcome'].map((name) => [name, h('span', { class: name })]))
    const element = h('li', {}, h('details', {},
      h('summary', {},
        h('span', { class: 'type' }, eventType),
        parts.outcome,
        h('span', { class: 'facts' }, parts.signature, parts.attempt, h('span', {}, areSeveral() ? `to ${nameOf(path)}` : ''), parts.remark),
        h('time', { datetime: new Date(atMs).toISOString() }, formatTime(atMs))
      ),
      h('div', { class: 'inside' }, h('p', {}, `${eventId} to ${nameOf(path)}`), h('pre', { tabindex: '0', 'aria-label': 'Body' }, format(body)))
    ))
    const isFresh = isLive()
    list.prepend(element)
    while (list.children.length > keptRows) list.lastElementChild.remove()
    find('#inbox-empty').hidden = true
    return {
      path,
      eventId,
      show (name, tone, text) {
        parts[name].className = `${name} ${tone}`
        parts[name].textContent = text
      },
      finish (tone, text) {
        element.className = isFresh ? `${tone} fresh` : tone
        this.show('outcome', tone, text)
      }
    }
  }

  setInterval(tick, 500)
  return {
    arrive,
    attempt,
    clear () {
      open = []
      waiting = []
      list.replaceChildren()
      find('#inbox-empty').hidden = false
    }
  }
}

function format (body) {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}
