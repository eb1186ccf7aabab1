import { formatTime, h } from './dom.js'

/**
 * Creates the row of a request to the receiver: its event, whether the signature was valid, and the response. Opening
 * it shows headers and body.
 */
export function createRequest (arrival, isLive) {
  const { eventType, atMs, path, tenantSlug, isVerified, isTest, isDuplicate, signatures, status, label } = arrival
  const name = findName(arrival)
  const tone = status < 300 ? 'good' : isVerified ? 'warn' : 'bad'
  const facts = [
    h(
      'span',
      { class: `signature ${isVerified ? 'good' : 'bad'}` },
      !isVerified ? `not verified: ${label}` : signatures > 1 ? `verified, ${signatures} signatures` : 'verified'
    ),
    ...[
      [isTest, 'test'],
      [isDuplicate, 'duplicate, ignored'],
      [path !== tenantSlug || status === 404, `to /${path}`]
    ]
      .filter(([isShown]) => isShown)
      .map(([, text]) => h('span', {}, text))
  ]
  return h(
    'li',
    { class: isLive ? 'fresh' : null },
    h(
      'details',
      { 'data-tone': tone },
      h(
        'summary',
        {},
        h(
          'span',
          { class: 'what' },
          h('span', { class: 'type' }, eventType),
          name === '' ? null : ' · ',
          h('bdi', {}, name)
        ),
        h('span', { class: `outcome ${tone}` }, `returned ${status}`),
        h('span', { class: 'facts' }, ...facts),
        h('time', { datetime: new Date(atMs).toISOString() }, formatTime(atMs))
      ),
      createDetail(arrival)
    )
  )
}

function createDetail ({ path, headers, body, isVerified, reason, signatures }) {
  const lines = [`POST /${path}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)]
  return h(
    'div',
    { class: 'inside' },
    h('pre', { tabindex: '0', 'aria-label': 'Headers' }, lines.join('\n')),
    h('pre', { tabindex: '0', 'aria-label': 'Body' }, formatBody(body)),
    h(
      'p',
      { class: isVerified ? 'good' : 'bad' },
      isVerified
        ? `Verified: ${signatures > 1 ? 'one of the signatures' : 'the signature'} equals HMAC-SHA256 of webhook-id.webhook-timestamp.body with a secret of the receiver.`
        : `Rejected: ${reason}.`
    )
  )
}

/** Returns the name of an event's candidate or job. */
function findName ({ body }) {
  try {
    const { data } = JSON.parse(body)
    return data.candidate_name ?? data.full_name ?? data.name ?? ''
  } catch {
    return ''
  }
}

function formatBody (body) {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}
