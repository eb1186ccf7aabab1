import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Failure } from '../api.js'
import { useFormat, useNow, useOnline, usePortal } from '../hooks.js'
import { type Tone, showControls } from '../text.js'
import { type IconName, Button, Copy, Icon } from './controls.js'

/** A state as an icon and a word, because colour alone is not accessible. */
export function Status ({ tone, children }: { tone: Tone, children: string }) {
  return <span class={`status status-${tone}`}><Icon name={tone} /> <span>{children}</span></span>
}

interface NoticeProps {
  tone: Tone
  title: string
  children?: ComponentChildren
  /** Whether screen readers announce it immediately. */
  isUrgent?: boolean
  /** Whether the title is a heading: it stands in place of content. */
  isHeading?: boolean
}

/** A box with a message about its surroundings. */
export function Notice ({ tone, title, children, isUrgent = false, isHeading = false }: NoticeProps) {
  const Title = isHeading ? 'h2' : 'p'
  return (
    <div class={`notice notice-${tone}`} role={isUrgent ? 'alert' : 'status'}>
      <Icon name={tone} />
      <div>
        <Title class='notice-title'>{title}</Title>
        {children}
      </div>
    </div>
  )
}

/** Says that the page is offline or its session has ended, always in view: every action fails until that changes. */
export function Alerts () {
  const { returnUrl, state, askAgain, format: { messages: { shell } } } = usePortal()
  const isOnline = useOnline()
  if (isOnline && state !== 'ended') return null
  // Offline, a new session would not help.
  return (
    <div class='top'>
      <Notice tone='waiting' title={isOnline ? shell.session.ended : shell.offline.title} isUrgent>
        <p>{isOnline ? shell.session.endedText : shell.offline.text}</p>
        {isOnline && askAgain !== null && <Button onClick={askAgain}>{shell.retry}</Button>}
        {isOnline && returnUrl !== null && (
          <p>
            <a class='link' href={returnUrl} target='_blank' rel='noreferrer'>
              {shell.returnTo}
            </a>
          </p>
        )}
      </Notice>
    </div>
  )
}

/**
 * Shows what happened, what to try, and which id to quote. `onRetry` adds a button, for content that failed to load.
 */
export function Problem ({
  failure,
  onRetry,
  isBusy = false
}: {
  failure: Failure
  onRetry?: () => void
  isBusy?: boolean
}) {
  const { messages: { problem, shell } } = useFormat()
  const isOnline = useOnline()
  const { title, text } = failure.status === 0 && !isOnline ? shell.offline : problem[failure.code]
  const waitSeconds = useWait(failure)
  const { requestId } = failure
  return (
    <Notice tone='bad' title={title} isUrgent isHeading={onRetry !== undefined}>
      <p>{text}</p>
      {waitSeconds > 0 && <Wait seconds={waitSeconds} />}
      {failure.details.length > 0 && (
        <ul>
          {failure.details.map(({ field, message }) => (
            <li key={field}>
              <code>{field}</code> {message}
            </li>
          ))}
        </ul>
      )}
      {requestId !== null && (
        <p class='request-id'>
          {problem.requestId} <code>{requestId}</code> <Copy text={requestId} label={problem.requestId} isIconOnly />
        </p>
      )}
      {onRetry !== undefined && (
        <Button onClick={onRetry} isBusy={isBusy} isDisabled={waitSeconds > 0}>
          {shell.retry}
        </Button>
      )}
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

/** Explains an empty list, and what to do. */
export function Empty ({
  title,
  children,
  action,
  icon = 'webhook'
}: {
  title: string
  children: ComponentChildren
  action?: ComponentChildren
  icon?: IconName
}) {
  return (
    <div class='empty'>
      <Icon name={icon} />
      <h2>{title}</h2>
      <p>{children}</p>
      {action}
    </div>
  )
}

/** A placeholder while content loads. */
export function Skeleton ({ lines = 3 }: { lines?: number }) {
  const { messages } = useFormat()
  return (
    <div class='skeleton' role='status'>
      <span class='unseen'>{messages.shell.loading}</span>
      {Array.from({ length: lines }, (_, index) => <span key={index} class='skeleton-line' />)}
    </div>
  )
}

/** A progress bar, indeterminate without `value`. */
export function Progress ({ label, value, max }: { label: string, value?: number, max?: number }) {
  return (
    <label class='progress'>
      <span>{label}</span>
      <progress value={value} max={max} />
    </label>
  )
}

/** A name or another text by a user, with its own text direction. */
export function Name ({ children }: { children: string }) {
  return <bdi class='name'>{showControls(children)}</bdi>
}

/** An address on one line, cut at its end. */
export function Url ({ children }: { children: string }) {
  const shown = showControls(children)
  return <p class='url' dir='ltr' title={shown}>{shown}</p>
}

/** A date with its time. */
export function Instant ({ at }: { at: string }) {
  const { instant } = useFormat()
  return <time dateTime={at}>{instant(at)}</time>
}

/** A relative time, with the date as its tooltip. */
export function TimeAgo ({ at }: { at: string }) {
  const { instant, relative } = useFormat()
  const isNear = Math.abs(Date.parse(at) - Date.now()) < 120_000
  const now = useNow(isNear ? 1000 : 30_000)
  return <time dateTime={at} title={instant(at)}>{relative(at, now)}</time>
}

/** The addresses that notifications come from, as a fact. The vendor must have named some. */
export function SourceIps () {
  const { sourceIps } = usePortal()
  const { messages: { endpoint: { details: texts } } } = useFormat()
  const shown = sourceIps.join(', ')
  return (
    <>
      <dt>{texts.sourceIps}</dt>
      <dd>
        <p class='with-copy'>
          <span class='whole' dir='ltr'>
            {shown}
          </span>{' '}
          <Copy text={shown} label={texts.sourceIps} isIconOnly />
        </p>
        <p class='hint'>{texts.sourceIpsHint}</p>
      </dd>
    </>
  )
}
