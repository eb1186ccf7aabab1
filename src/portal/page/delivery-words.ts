import type { PortalMessages } from '../messages/types.js'
import type { AttemptError, DeliveryStatus } from './api/types.js'
import type { Tone } from './health.js'
import { knownError, statusHint } from './screens/endpoint/remedy.js'
import type { Format } from './text/format.js'

interface Outcome {
  response_status: number | null
  error: AttemptError | null
}

const tones: Record<DeliveryStatus, Tone> = { pending: 'waiting', delivered: 'good', failed: 'bad', skipped: 'off', cancelled: 'off' }

export function toneOf (status: DeliveryStatus): Tone {
  return tones[status]
}

/** Says in a few words how the last attempt ended; `null` if there was none. */
export function answerWords ({ response_status: status, error }: Outcome, { messages: { log }, text }: Pick<Format, 'messages' | 'text'>): string | null {
  if (error !== null) return text(log.answer[knownError(error, log.answer)], { status: String(status) })
  return status === null ? null : text(log.answer.http_status, { status: String(status) })
}

/** Says what to try after a failed attempt; `null` after a success. */
export function adviceFor ({ response_status: status, error }: Outcome, texts: PortalMessages['test']): string | null {
  if (error === null) return null
  const hint = status === null ? null : statusHint(status)
  return hint === null ? texts.errors[knownError(error, texts.errors)].text : texts.statuses[hint]
}
