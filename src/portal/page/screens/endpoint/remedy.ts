import type { PortalMessages } from '../../../messages/types.js'
import type { AttemptError } from '../../api/types.js'

/** A hint of the texts about the status that an endpoint answered. */
type StatusHint = keyof PortalMessages['test']['statuses']

const exact: Readonly<Record<number, StatusHint>> = { 401: 'credentials', 403: 'credentials', 404: 'notFound', 405: 'method', 410: 'gone', 429: 'busy', 503: 'busy' }

/** Returns what to say about a status besides that it is a failure; `null` for nothing. */
export function statusHint (status: number): StatusHint | null {
  if (status >= 300 && status < 400) return 'redirect'
  return exact[status] ?? (status >= 500 ? 'server' : null)
}

/** Reads the error of an attempt; errors of later versions are connection errors. */
export function knownError (error: string, errors: Readonly<Record<AttemptError, unknown>>): AttemptError {
  return Object.hasOwn(errors, error) ? error as AttemptError : 'connection'
}
