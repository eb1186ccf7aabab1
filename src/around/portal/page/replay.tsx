import { useEffect, useRef, useState } from 'preact/hooks'
import type { ReplayResult, ReplaySelection, WebhookWithHealth } from './api.js'
import { type Query, useAction, usePortal, useSettledQuery } from './hooks.js'
import { Button } from './parts/controls.js'
import { Notice, Problem } from './parts/feedback.js'
import { Checks, Choices, TextField, useErrorFocus } from './parts/fields.js'
import { Dialog } from './parts/frames.js'
import { type Choice, type SinceError, findSinceError, ranges, toLocalInput, toReplay } from './deliveries.js'

interface ReplayDialogProps {
  webhook: WebhookWithHealth
  onClose: () => void
  onShowLog: () => void
}

/** Selects events and sends them again, or explains why that is not possible. */
export function ReplayDialog ({ webhook, onClose, onShowLog }: ReplayDialogProps) {
  const { messages: { replay: texts, shell } } = usePortal()
  const [isActive, setActive] = useState(webhook.status === 'active')
  const [result, setResult] = useState<ReplayResult | null>(null)
  if (result === null && isActive) {
    return <ReplayForm webhook={webhook} onClose={onClose} onReplayed={setResult} onInactive={() => setActive(false)} />
  }
  const actions = (
    <>
      <Button onClick={onClose}>{shell.close}</Button>
      {result !== null && <Button kind='primary' onClick={onShowLog}>{texts.showLog}</Button>}
    </>
  )
  return (
    <Dialog title={texts.open} onClose={onClose} actions={actions}>
      {result === null ? <Notice tone='off' {...texts.inactive} /> : <Queued result={result} />}
    </Dialog>
  )
}

interface ReplayFormProps {
  webhook: WebhookWithHealth
  onClose: () => void
  onReplayed: (result: ReplayResult) => void
  /** Called if the webhook is no longer active. */
  onInactive: () => void
}

const firstChoice: Choice = { range: 'day', since: '', until: '', include: 'undelivered', eventTypes: [] }

/** Selects and counts events, then sends exactly these. */
function ReplayForm ({ webhook, onClose, onReplayed, onInactive }: ReplayFormProps) {
  const { api, announce, messages: { replay: texts, shell }, plural } = usePortal()
  const [choice, setChoice] = useState(firstChoice)
  const [isTouched, setTouched] = useState(false)
  const fields = useRef<HTMLDivElement>(null)
  const focusFirstError = useErrorFocus(fields)
  const error = findSinceError(choice)
  const count = useCount(webhook.id, error === null ? choice : null)
  const replay = useAction(api.webhooks.replay, (result) => {
    onReplayed(result)
    announce(plural(texts.queued, result.queued))
  })
  // A vendor may hide the details, and nothing else in the form can be rejected.
  const isRejected = [count.failure, replay.failure].some((failure) => failure?.code === 'bad_request')
  useEffect(() => { if (isRejected) onInactive() }, [isRejected])

  const queued = error === null ? count.value?.queued ?? 0 : 0
  const send = () => {
    setTouched(true)
    if (error !== null) focusFirstError()
    if (queued > 0 && count.value !== null) replay.run(webhook.id, count.value.body)
  }
  const actions = (
    <>
      <Button onClick={onClose} isDisabled={replay.isBusy}>{shell.cancel}</Button>
      <Button kind='primary' type='submit' isBusy={replay.isBusy} isDisabled={queued === 0 && error === null}>
        {queued === 0 ? texts.choose : plural(texts.confirm, queued)}
      </Button>
    </>
  )
  return (
    <Dialog title={texts.open} onClose={onClose} isBusy={replay.isBusy} onSubmit={send} actions={actions}>
      <p class='muted'>{texts.intro}</p>
      <div class='replay-fields' ref={fields}>
        <ReplayFields
          choice={choice} error={isTouched ? error : null} eventTypes={webhook.event_types} onChoice={setChoice}
        />
      </div>
      {error === null && <ReplayCount count={count} include={choice.include} />}
      {replay.failure !== null && <Problem failure={replay.failure} />}
    </Dialog>
  )
}

interface ReplayCountProps {
  count: Query<Counted>
  include: Choice['include']
}

/** How many events a replay would send. */
function ReplayCount ({ count: { value: counted, failure, reload }, include }: ReplayCountProps) {
  const { messages: { replay: texts }, plural, text } = usePortal()
  if (failure !== null) return <Problem failure={failure} onRetry={reload} />
  return (
    <div class='replay-count' role='status'>
      {counted === null
        ? <p class='muted'><span class='spinner' /> {texts.counting}</p>
        : <p class='replay-number'>{counted.queued === 0 ? texts.none : plural(texts.matches, counted.queued)}</p>}
      {counted?.isTruncated === true && (
        <p class='muted'>
          {text(texts.truncated, { count: counted.queued })}{' '}
          {include === 'all' ? texts.againAll : texts.againUndelivered}
        </p>
      )}
    </div>
  )
}

/** Events that a replay would send. */
interface Counted {
  /** Replays exactly these, without events recorded after the count. */
  body: ReplaySelection
  queued: number
  isTruncated: boolean
}

/** The wait until the user has stopped choosing. */
const settleMs = 300

/** Counts the events of a choice after each change. `choice` is `null` while it is invalid. */
function useCount (webhookId: number, choice: Choice | null): Query<Counted> {
  const { api } = usePortal()
  return useSettledQuery(choice, settleMs, async (choice) => {
    const body = toReplay(choice, Date.now())
    const { value, failure } = await api.webhooks.replay(webhookId, { ...body, dry_run: true })
    if (value === null) return { value, failure }
    const { until, queued, truncated } = value
    return { value: { body: { ...body, ...(until !== null && { until }) }, queued, isTruncated: truncated }, failure }
  })
}

interface ReplayFieldsProps {
  choice: Choice
  error: SinceError | null
  eventTypes: readonly string[]
  onChoice: (choice: Choice) => void
}

const dayMs = 86_400_000

function ReplayFields ({ choice, error, eventTypes, onChoice }: ReplayFieldsProps) {
  const { messages: { replay: texts } } = usePortal()
  const chooseRange = (range: Choice['range']) =>
    onChoice({ ...choice, range, since: choice.since || toLocalInput(Date.now() - dayMs) })
  return (
    <>
      <Choices
        isGrid legend={texts.range} chosen={choice.range} onChoose={chooseRange}
        choices={ranges.map((range) => ({ value: range, label: texts.ranges[range] }))}
      />
      {choice.range === 'own' && (
        <div class='replay-period'>
          <TextField
            label={texts.since} error={error === null ? null : texts.invalid[error]}
            type='datetime-local' value={choice.since} onValue={(since) => onChoice({ ...choice, since })}
          />
          <TextField
            label={texts.until} hint={texts.untilNow}
            type='datetime-local' value={choice.until} onValue={(until) => onChoice({ ...choice, until })}
          />
        </div>
      )}
      <Choices
        isGrid
        legend={texts.include}
        chosen={choice.include}
        onChoose={(include) => onChoice({ ...choice, include })}
        choices={[
          { value: 'undelivered', label: texts.undelivered, hint: texts.undeliveredHint },
          { value: 'all', label: texts.all, hint: texts.allHint }
        ]}
      />
      {eventTypes.length > 1 && (
        <Checks
          legend={texts.types} hint={texts.typesHint} names={eventTypes}
          chosen={choice.eventTypes} onChange={(eventTypes) => onChoice({ ...choice, eventTypes })}
        />
      )}
    </>
  )
}

/** Confirms a replay. The API cannot distinguish its deliveries from others, so the log shows how they end. */
function Queued ({ result: { queued, truncated, include } }: { result: ReplayResult }) {
  const { messages: { replay: texts }, plural } = usePortal()
  return (
    <Notice tone='good' title={plural(texts.queued, queued)} text={texts.done}>
      {truncated && <p>{include === 'all' ? texts.againAll : texts.againUndelivered}</p>}
    </Notice>
  )
}
