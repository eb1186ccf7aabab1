import type { Delivery, DeliveryStatus, Page, ReplaySelection } from './api.js'

/** Filters of the log; an empty string matches everything. */
export interface LogFilter {
  status: DeliveryStatus | ''
  eventType: string
  eventId: string
}

/** The page of a log from which the user opened a delivery. */
export interface LogPlace {
  webhookId: number
  filter: LogFilter
  page: number
}

const hourMs = 3_600_000
const hoursShown = 24

/** The results of the deliveries recorded within an hour. */
export interface Hour {
  /** Milliseconds since 1970. */
  begin: number
  delivered: number
  failed: number
}

/** Counts the results of the last 24 hours in a page of deliveries, newest first. */
export function countActivity ({ data, meta }: Page<Delivery>, now: number) {
  const hours = Array.from({ length: hoursShown }, (_, index): Hour => ({
    begin: now - (hoursShown - index) * hourMs, delivered: 0, failed: 0
  }))
  const counts = { delivered: 0, failed: 0, pending: 0 }
  const since = now - hoursShown * hourMs
  const recent = data.filter(({ created_at: at }) => Date.parse(at) > since)
  for (const { created_at: at, status } of recent) {
    const hour = hours[Math.min(hoursShown - 1, Math.floor((Date.parse(at) - since) / hourMs))]
    if (status !== 'delivered' && status !== 'failed' && status !== 'pending') continue
    counts[status] += 1
    if (status !== 'pending' && hour !== undefined) hour[status] += 1
  }
  const ended = counts.delivered + counts.failed
  return {
    ...counts,
    /** Oldest first. */
    hours,
    /** The delivered share of finished deliveries; `null` without any. Never rounded up. */
    share: ended === 0 ? null : Math.floor(counts.delivered / ended * 1000) / 1000,
    /** Whether the 24 hours have more deliveries than the page. */
    isPartial: recent.length === data.length && meta.total > data.length
  }
}

/** The periods to choose from. */
export const ranges = ['hour', 'day', 'week', 'own'] as const

type Range = typeof ranges[number]

/** The input of the replay dialog. */
export interface Choice {
  range: Range
  /** Local times in the format of `<input type=datetime-local>`, or empty. */
  since: string
  until: string
  include: 'undelivered' | 'all'
  eventTypes: readonly string[]
}

export type SinceError = 'since' | 'order'

const lengths: Record<Exclude<Range, 'own'>, number> = { hour: hourMs, day: 24 * hourMs, week: 7 * 24 * hourMs }

/** Returns the error of a custom range; `null` if it is valid. */
export function findSinceError ({ range, since, until }: Choice): SinceError | null {
  if (range !== 'own') return null
  if (Number.isNaN(Date.parse(since))) return 'since'
  return until !== '' && Date.parse(since) >= Date.parse(until) ? 'order' : null
}

/** Returns the replay's request body. Input times are in the user's time zone. */
export function toReplay ({ range, since, until, include, eventTypes }: Choice, now: number): ReplaySelection {
  const from = range === 'own' ? Date.parse(since) : now - lengths[range]
  return {
    since: new Date(from).toISOString(),
    ...(range === 'own' && until !== '' ? { until: new Date(until).toISOString() } : {}),
    include,
    ...(eventTypes.length > 0 ? { event_types: [...eventTypes] } : {})
  }
}

/** A local time for `<input type=datetime-local>`, to the minute. */
export function toLocalInput (ms: number): string {
  const date = new Date(ms)
  return new Date(ms - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** A delivery's request, without the headers that change with each attempt. */
interface SentRequest {
  url: string
  eventId: string
  body: string
  /** The names of the webhook's custom headers. The API never returns their values. */
  headerNames: readonly string[]
}

/**
 * Returns a shell script that sends the request like a new attempt: with the current time, and signed with the secret
 * in WEBHOOK_SECRET. Endpoints reject old signatures.
 */
export function curlCommand ({ url, eventId, body, headerNames }: SentRequest): string {
  const headers = headerNames.map((name) => `  -H ${quote(`${name}: <value>`)} \\\n`).join('')
  return `: "\${WEBHOOK_SECRET:?Set it to the signing secret of the webhook}"
ID=${quote(eventId)}
BODY=${quote(body)}
TIMESTAMP=$(date +%s)
KEY=$(printf %s "\${WEBHOOK_SECRET#whsec_}" | base64 -d | od -An -v -tx1 | tr -d ' \\n')
SIGNATURE=$(printf %s "$ID.$TIMESTAMP.$BODY" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$KEY" -binary | base64)
curl -i --globoff ${quote(url)} \\
  -H 'content-type: application/json' \\
  -H "webhook-id: $ID" \\
  -H "webhook-timestamp: $TIMESTAMP" \\
  -H "webhook-signature: v1,$SIGNATURE" \\
${headers}  --data-binary "$BODY"
`
}

/** Quotes text for POSIX shells, where no character is special within single quotes. */
function quote (text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
