import type { Delivery, DeliveryStatus, Page, ReplaySelection } from './api.js'

/** Filters of the log; an empty string matches everything. */
export interface LogFilter {
  status: DeliveryStatus | ''
  eventType: string
  eventId: string
}

/** The state of a log when the user opened one of its deliveries. */
export interface LogPlace {
  webhookId: number
  filter: LogFilter
  log: LogRows
  deliveryId: number
}

/** The loaded part of a log. */
export interface LogRows {
  /** Newest first. */
  rows: readonly Delivery[]
  /** The server's latest count of deliveries in the log. */
  total: number
  /** Whether there are more than `total`. */
  isCapped: boolean
  /** How many of the newest deliveries are certainly in `rows`. The next page is loaded from there. */
  loaded: number
}

/** The difference between the newest page and the rows. */
export interface Difference {
  added: number
  removed: number
}

type DeliveryPage = Page<Delivery>

export function startRows ({ data, meta }: DeliveryPage): LogRows {
  return { rows: data, total: meta.total, isCapped: isCapped(meta), loaded: data.length }
}

export function hasMore ({ loaded, total, isCapped }: LogRows): boolean {
  return isCapped || loaded < total
}

function isCapped (meta: DeliveryPage['meta']): boolean {
  return meta.total_is_capped === true
}

/**
 * Adds another page. New deliveries push rows to later pages, so a row can arrive twice. Deliveries that leave the log,
 * for example because they are no longer pending, pull rows to earlier pages. Then the previous page is loaded again,
 * so that no row is missing.
 */
export function appendRows (log: LogRows, { data, meta }: DeliveryPage): LogRows {
  const { page, per_page: perPage, total } = meta
  const reached = Math.max(0, log.loaded - Math.max(0, log.total - total))
  const begin = (page - 1) * perPage
  const loaded = begin > reached ? reached : Math.max(reached, begin + data.length)
  const isLast = begin <= reached && (data.length === 0 || (isCapped(meta) && data.length < perPage))
  return {
    rows: merge(log.rows, data),
    total: isLast ? loaded : total,
    isCapped: !isLast && isCapped(meta),
    loaded
  }
}

export function compareRows (log: LogRows, newest: DeliveryPage): Difference {
  const known = new Set(log.rows.map(({ id }) => id))
  const added = newest.data.filter(({ id }) => !known.has(id)).length
  // More than a page was added: the totals show how many.
  const isApart = added > 0 && added === newest.data.length
  return {
    added: isApart ? Math.max(added, newest.meta.total - log.total) : added,
    removed: isApart ? 0 : findRemoved(log, newest).size
  }
}

/** Adds and removes rows to match the newest page. A page without known rows restarts the log. */
export function renewRows (log: LogRows, newest: DeliveryPage): LogRows {
  const { added, removed } = compareRows(log, newest)
  if (added >= newest.data.length) return startRows(newest)
  const gone = findRemoved(log, newest)
  const { total } = newest.meta
  const loaded = log.loaded + added - removed
  return {
    rows: merge(
      log.rows.filter(({ id }) => !gone.has(id)),
      newest.data
    ),
    total,
    isCapped: isCapped(newest.meta),
    loaded: isCapped(newest.meta) ? loaded : Math.min(total, loaded)
  }
}

/** Updates known rows. Adds and removes none. */
export function updateRows (log: LogRows, { data }: DeliveryPage): LogRows {
  const current = new Map(data.map((row) => [row.id, row]))
  return { ...log, rows: log.rows.map((row) => current.get(row.id) ?? row) }
}

/** Returns the ids of rows that the page would contain if they were still in the log. */
function findRemoved (log: LogRows, { data, meta }: DeliveryPage): Set<number> {
  const current = new Set(data.map(({ id }) => id))
  const lowest = data.length === meta.total ? 0 : data.at(-1)?.id ?? 0
  return new Set(log.rows.map(({ id }) => id).filter((id) => id >= lowest && !current.has(id)))
}

function merge (rows: readonly Delivery[], more: readonly Delivery[]): Delivery[] {
  const byId = new Map([...rows, ...more].map((row) => [row.id, row]))
  return [...byId.values()].sort((a, b) => b.id - a.id)
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
    begin: now - (hoursShown - index) * hourMs,
    delivered: 0,
    failed: 0
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
