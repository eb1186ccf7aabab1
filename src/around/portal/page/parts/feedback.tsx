import type { ComponentChildren } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'
import type { Failure } from '../api.js'
import { type Query, useNow, useOnline, usePortal } from '../hooks.js'
import { type Tone, showControls } from '../text.js'
import { Button, Copy, CopyLine, Icon } from './controls.js'

/** A state as an icon and a word, because colour alone is not accessible. */
export function Status ({ tone, children }: { tone: Tone, children: string }) {
  return <span class={`status status-${tone}`}><Icon name={tone} /> <span>{children}</span></span>
}

interface NoticeProps {
  tone: Tone
  title: string
  /** The first paragraph. */
  text?: string
  children?: ComponentChildren
  /** Whether screen readers announce it immediately. */
  isUrgent?: boolean
  /** Whether the title is a heading, because the notice replaces content. */
  isHeading?: boolean
}

/** A box with a message about its surroundings. */
export function Notice ({ tone, title, text, children, isUrgent = false, isHeading = false }: NoticeProps) {
  const Title = isHeading ? 'h2' : 'p'
  return (
    <div class={`notice notice-${tone}`} role={isUrgent ? 'alert' : 'status'}>
      <Icon name={tone} />
      <div>
        <Title class='notice-title'>{title}</Title>
        {text !== undefined && <p>{text}</p>}
        {children}
      </div>
    </div>
  )
}

/** Always in view while the page is offline or its session has expired, because every action would fail. */
export function Alerts () {
  const { returnUrl, state, askAgain, messages: { shell } } = usePortal()
  const isOnline = useOnline()
  if (!isOnline) return <div class='top'><Notice tone='waiting' {...shell.offline} isUrgent /></div>
  if (state !== 'ended') return null
  return (
    <div class='top'>
      <Notice tone='waiting' title={shell.session.ended} text={shell.session.endedText} isUrgent>
        {askAgain !== null && <Button onClick={askAgain}>{shell.retry}</Button>}
        {returnUrl !== null && (
          <p><a class='link' href={returnUrl} target='_blank' rel='noreferrer'>{shell.returnTo}</a></p>
        )}
      </Notice>
    </div>
  )
}

interface ProblemProps {
  failure: Failure
  /** Adds a button, for content that failed to load. */
  onRetry?: () => void
  isBusy?: boolean
}

/** Shows what happened, what to try, and which id to quote. */
export function Problem ({ failure, onRetry, isBusy = false }: ProblemProps) {
  const { messages: { problem, shell }, plural } = usePortal()
  const isOnline = useOnline()
  const { title, text } = failure.status === 0 && !isOnline ? shell.offline : problem[failure.code]
  const waitSeconds = useWait(failure)
  const { requestId } = failure
  return (
    <Notice tone='bad' title={title} text={text} isUrgent isHeading={onRetry !== undefined}>
      {/* Not announced: the countdown would interrupt every second. */}
      {waitSeconds > 0 && <p aria-live='off'>{plural(problem.retryIn, waitSeconds)}</p>}
      {failure.details.length > 0 && (
        <ul>{failure.details.map(({ field, message }) => <li key={field}><code>{field}</code> {message}</li>)}</ul>
      )}
      {requestId !== null && (
        <p class='request-id'>
          {problem.requestId} <code>{requestId}</code> <Copy text={requestId} label={problem.requestId} isIconOnly />
        </p>
      )}
      {onRetry !== undefined && (
        <Button onClick={onRetry} isBusy={isBusy} isDisabled={waitSeconds > 0}>{shell.retry}</Button>
      )}
    </Notice>
  )
}

/** Returns the seconds until the request can be sent again. */
function useWait ({ retryAfterMs }: Failure): number {
  const [since, setSince] = useState(Date.now)
  useEffect(() => setSince(Date.now()), [retryAfterMs])
  const now = useNow(retryAfterMs === null ? 3_600_000 : 1000)
  return retryAfterMs === null ? 0 : Math.max(0, Math.ceil((since + retryAfterMs - now) / 1000))
}

/** Explains an empty list, and what to do. */
export function Empty ({ title, text, action }: { title: string, text: string, action?: ComponentChildren }) {
  return <div class='empty'><Icon name='webhook' /><h2>{title}</h2><p>{text}</p>{action}</div>
}

/** A placeholder while content loads. */
export function Skeleton ({ lines }: { lines: number }) {
  const { messages } = usePortal()
  return (
    <div class='skeleton' role='status'>
      <span class='unseen'>{messages.shell.loading}</span>
      {Array.from({ length: lines }, (_, index) => <span key={index} class='skeleton-line' />)}
    </div>
  )
}

interface LoadedProps<Value> {
  query: Query<Value>
  /** The lines of the placeholder. */
  lines?: number
  children: (value: Value) => ComponentChildren
}

/** Shows a placeholder until data has loaded, then the data. Shows a problem after a failure. */
export function Loaded<Value> ({ query, lines = 4, children }: LoadedProps<Value>) {
  const { value, failure, isLoading, reload } = query
  return (
    <>
      {failure !== null && <Problem failure={failure} onRetry={reload} isBusy={isLoading} />}
      {value === null && failure === null && <Skeleton lines={lines} />}
      {value !== null && children(value)}
    </>
  )
}

/** A progress bar without an end in sight. */
export function Progress ({ label }: { label: string }) {
  return <label class='progress'><span>{label}</span><progress /></label>
}

/** Text from a user, such as a name, with its own direction. */
export function Name ({ children }: { children: string }) {
  return <bdi class='name'>{showControls(children)}</bdi>
}

/** A URL on one line, truncated at its end. */
export function Url ({ children }: { children: string }) {
  const shown = showControls(children)
  return <p class='url' dir='ltr' title={shown}>{shown}</p>
}

/** A date with its time. */
export function Instant ({ at }: { at: string }) {
  const { instant } = usePortal()
  return <time dateTime={at}>{instant(at)}</time>
}

/** A relative time, with the date as its tooltip. */
export function TimeAgo ({ at }: { at: string }) {
  const { instant, relative } = usePortal()
  const isNear = Math.abs(Date.parse(at) - Date.now()) < 120_000
  const now = useNow(isNear ? 1000 : 30_000)
  return <time dateTime={at} title={instant(at)}>{relative(at, now)}</time>
}

interface CountdownProps {
  at: string
  /** Shown once the time has come. */
  due: string
  label?: (when: string) => string
}

/** A countdown to a time. */
export function Countdown ({ at, due, label = (when) => when }: CountdownProps) {
  const { instant, relative } = usePortal()
  const now = useNow(1000)
  return <time dateTime={at} title={instant(at)}>{Date.parse(at) <= now ? due : label(relative(at, now))}</time>
}

/** A section of a screen. Its heading is its name. */
export function Section ({ title, children }: { title: string, children: ComponentChildren }) {
  const id = useId()
  return <section class='section' aria-labelledby={id}><h2 id={id}>{title}</h2>{children}</section>
}

/** Exact texts, such as event types. */
export function Chips ({ texts }: { texts: readonly string[] }) {
  return <ul class='chips'>{texts.map((text) => <li key={text}><code dir='ltr'>{showControls(text)}</code></li>)}</ul>
}

/** A line of a `<dl>`. */
export function Fact ({ label, children }: { label: string, children: ComponentChildren }) {
  return <div><dt>{label}</dt><dd>{children}</dd></div>
}

/** The addresses that notifications come from, as a fact, if the vendor lists any. */
export function SourceIps () {
  const { sourceIps, messages: { endpoint: { details: texts } } } = usePortal()
  if (sourceIps.length === 0) return null
  return (
    <Fact label={texts.sourceIps}>
      <CopyLine text={sourceIps.join(', ')} label={texts.sourceIps} />
      <p class='hint'>{texts.sourceIpsHint}</p>
    </Fact>
  )
}
