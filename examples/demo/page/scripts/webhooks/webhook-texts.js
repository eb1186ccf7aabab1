import { formatCount } from '../dom.js'

export function describeTest ({ status, response_status: answer, duration_ms: ms, error }) {
  return [status === 'delivered' ? `Delivered: ${answer} in ${ms} ms.` : `Failed: ${answer ?? error} after ${ms} ms. A test is not retried.`]
}

/** Describes the result of a replay, including the deliveries that are still being retried. */
export function describeReplay (queued, retried) {
  const others = `${formatCount(retried, 'delivery is', 'deliveries are')} still being retried.`
  if (queued > 0) return `${formatCount(queued, 'delivery', 'deliveries')} queued again.${retried > 0 ? ` ${others}` : ''}`
  return `Nothing to replay: ${retried > 0 ? others : 'everything was delivered.'}`
}

export function whyDisabled (status) {
  const cause = status === 410 ? 'Its receiver answered 410 Gone' : 'Its receiver is gone or kept failing'
  return `${cause}, so the service disabled the webhook. Set the receiver to Working, activate the webhook, then replay what it missed.`
}

export function formatUrl (url) {
  const { host, pathname } = new URL(url)
  return `${host}${pathname}`
}
