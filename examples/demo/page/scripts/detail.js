import { showRequest } from './api.js'
import { formatTime, h } from './dom.js'

/** Creates the parts of an open row: the attempts, the latest request as received, and the URL of the delivery. */
export function createDetail ({ eventId, webhookId, deliveryId, attempts, arrival, api }) {
  const log = h('div', { class: 'request' })
  if (deliveryId !== null) showRequest(log, api.describe(`/webhooks/${webhookId}/deliveries/${deliveryId}`))
  return [
    ...(attempts.length === 0 ? [] : [h('h3', {}, 'Attempts'), createAttempts(attempts)]),
    ...(arrival === null ? [h('p', {}, `No request for ${eventId} reached the receiver.`)] : createRequest(arrival, attempts.length)),
    ...(deliveryId === null ? [] : [h('h3', {}, 'This delivery in the log of the API'), log])
  ]
}

function createAttempts (attempts) {
  return h('ol', { class: 'attempts' }, ...attempts.map(({ outcome, responseStatus, error, durationMs, atMs, arrival }) => h('li', {},
    h('i', { class: outcome }),
    h('span', {}, `${responseStatus ?? error} in ${Math.round(durationMs)} ms`),
    h('span', {}, arrival?.isDuplicate ? 'duplicate, ignored' : ''),
    h('time', {}, formatTime(atMs))
  )))
}

function createRequest ({ path, headers, body, isVerified, reason, signatures }, attemptCount) {
  const lines = [`POST /${path}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)]
  return [
    h('h3', {}, attemptCount > 1 ? `Request of attempt ${attemptCount}` : 'Request'),
    h('pre', { tabindex: '0', 'aria-label': 'Headers' }, lines.join('\n')),
    h('pre', { tabindex: '0', 'aria-label': 'Body' }, formatBody(body)),
    h('p', { class: isVerified ? 'good' : 'bad' }, isVerified
      ? `Verified: ${signatures > 1 ? 'one of the signatures' : 'the signature'} equals HMAC-SHA256 of webhook-id.webhook-timestamp.body with the receiver’s secret.`
      : `Refused: ${reason}.`)
  ]
}

function formatBody (body) {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}
