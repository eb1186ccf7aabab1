import type { PortalMessages } from '../messages.js'
import type { AttemptError, DeliveryStatus, WebhookStatus, WebhookWithHealth } from './api.js'
import type { Format } from './text.js'

/** The colour and icon of a health. */
export type Tone = 'good' | 'waiting' | 'bad' | 'off'

/** The health of a webhook in one word, and its tone. */
interface HealthWord {
  tone: Tone
  word: 'active' | 'failing' | 'paused' | 'disabled' | 'held'
}

/** Returns the word for a webhook. Without its health, which lists do not have, by its status alone. */
export function healthWord (status: WebhookStatus, health: WebhookWithHealth['health'] | null): HealthWord {
  if (status === 'disabled') return { tone: 'bad', word: 'disabled' }
  if (status === 'inactive') return { tone: 'off', word: 'paused' }
  if (health?.held) return { tone: 'waiting', word: 'held' }
  return health?.failing_since == null ? { tone: 'good', word: 'active' } : { tone: 'waiting', word: 'failing' }
}

interface Outcome {
  response_status: number | null
  error: AttemptError | null
}

const tones: Record<DeliveryStatus, Tone> = {
  pending: 'waiting',
  delivered: 'good',
  failed: 'bad',
  skipped: 'off',
  cancelled: 'off'
}

export function toneOf (status: DeliveryStatus): Tone {
  return tones[status]
}

/** Describes in a few words how the last attempt ended; `null` if there was none. */
export function describeResult (
  { response_status: status, error }: Outcome,
  { messages: { log }, text }: Pick<Format, 'messages' | 'text'>
): string | null {
  if (error !== null) return text(log.answer[knownError(error, log.answer)], { status: String(status) })
  return status === null ? null : text(log.answer.http_status, { status: String(status) })
}

/** Returns advice after a failed attempt; `null` after a success. */
export function adviceFor ({ response_status: status, error }: Outcome, texts: PortalMessages['test']): string | null {
  if (error === null) return null
  const hint = status === null ? null : statusHint(status)
  return hint === null ? texts.errors[knownError(error, texts.errors)].text : texts.statuses[hint]
}

/** A key of the hints about response statuses. */
type StatusHint = keyof PortalMessages['test']['statuses']

const statusHints: Readonly<Record<number, StatusHint>> = {
  401: 'credentials',
  403: 'credentials',
  404: 'notFound',
  405: 'method',
  410: 'gone',
  429: 'busy',
  503: 'busy'
}

/** Returns the hint for a status; `null` without one. */
export function statusHint (status: number): StatusHint | null {
  if (status >= 300 && status < 400) return 'redirect'
  return statusHints[status] ?? (status >= 500 ? 'server' : null)
}

/** Reads the error of an attempt; errors of later versions are connection errors. */
export function knownError<Name extends string> (
  error: string,
  errors: Readonly<Record<Name | AttemptError, unknown>>
): Name | AttemptError {
  return Object.hasOwn(errors, error) ? (error as Name) : 'connection'
}

/** Returns whether the data of an event was erased: only its id, type and time are left. */
export function isErased (body: string): boolean {
  try {
    return (JSON.parse(body) as { erased?: unknown } | null)?.erased === true
  } catch {
    return false
  }
}
