import { useEffect, useState } from 'preact/hooks'
import type { Failure } from '../api/failure.js'
import { useFormat } from '../state/portal.js'
import { useNow } from '../state/time.js'
import { Button } from './button.js'
import { Copy } from './copy.js'
import { Notice } from './notice.js'

/** Says what happened, what to try, and which id to quote. `onRetry` adds a button. */
export function Problem ({ failure, onRetry, isBusy = false }: { failure: Failure, onRetry?: () => void, isBusy?: boolean }) {
  const { messages: { problem, shell } } = useFormat()
  const { title, text } = problem[failure.code]
  const waitSeconds = useWait(failure)
  const { requestId } = failure
  return (
    <Notice tone='bad' title={title} isUrgent>
      <p>{text}</p>
      {waitSeconds > 0 && <Wait seconds={waitSeconds} />}
      {failure.details.length > 0 && <ul>{failure.details.map(({ field, message }) => <li key={field}><code>{field}</code> {message}</li>)}</ul>}
      {requestId !== null && (
        <p class='request-id'>{problem.requestId} <code>{requestId}</code> <Copy text={requestId} label={problem.requestId} isIconOnly /></p>
      )}
      {onRetry !== undefined && <Button onClick={onRetry} isBusy={isBusy} isDisabled={waitSeconds > 0}>{shell.retry}</Button>}
    </Notice>
  )
}

function Wait ({ seconds }: { seconds: number }) {
  const { messages: { problem }, plural } = useFormat()
  // Not announced: the countdown would interrupt every second.
  return <p aria-live='off'>{plural(problem.retryIn, seconds)}</p>
}

/** Returns the seconds until the request may be sent again. */
function useWait ({ retryAfterMs }: Failure): number {
  const [since, setSince] = useState(Date.now)
  useEffect(() => setSince(Date.now()), [retryAfterMs])
  const now = useNow(retryAfterMs === null ? 3_600_000 : 1000)
  return retryAfterMs === null ? 0 : Math.max(0, Math.ceil((since + retryAfterMs - now) / 1000))
}
