import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Activity } from './activity.js'
import type { RotatedWebhook, TestResult, Webhook, WebhookWithHealth } from './api.js'
import { formatValues } from './filters.js'
import { useAction, useCan, useEvery, useFormat, useNow, usePortal, useQuery } from './hooks.js'
import { Log } from './log.js'
import { Button, Copy, Field, Link } from './parts/controls.js'
import { AskDialog, ConfirmByName, Dialog } from './parts/dialogs.js'
import { Instant, Name, Notice, Problem, Progress, Skeleton, SourceIps, Status } from './parts/feedback.js'
import { SecretScreen } from './secret.js'
import { Screen } from './shell.js'
import { healthWord, knownError, showControls, statusHint } from './text.js'

/** One webhook: its health and all its actions. */
export function EndpointScreen ({ id }: { id: number }) {
  const { api } = usePortal()
  const { messages: { shell, endpoint } } = useFormat()
  const query = useQuery((signal) => api.findWebhook(id, signal), [id])
  const [rotated, setRotated] = useState<RotatedWebhook | null>(null)
  const webhook = query.value?.data
  useEvery(webhook === undefined || rotated !== null ? null : 10_000, query.reload)
  if (rotated !== null) {
    const close = () => {
      setRotated(null)
      query.reload()
    }
    return <SecretScreen webhook={rotated} onStored={close} />
  }
  return (
    <Screen
      title={webhook === undefined ? endpoint.title : <Name>{webhook.name}</Name>}
      intro={webhook && <Summary webhook={webhook} />}
      actions={webhook && <Actions webhook={webhook} />}
      back={{ to: { screen: 'endpoints' }, label: shell.title }}
    >
      {query.failure !== null && <Problem failure={query.failure} onRetry={query.reload} isBusy={query.isLoading} />}
      {webhook === undefined
        ? query.failure === null && <Skeleton lines={4} />
        : (
          <>
            <HealthNotice webhook={webhook} onChanged={query.reload} />
            <div class='columns'>
              <Details webhook={webhook} />
              <Manage webhook={webhook} onChanged={query.reload} onRotated={setRotated} />
            </div>
            <Activity webhookId={id} />
            <Log webhook={webhook} />
          </>
          )}
    </Screen>
  )
}

/** The state of a webhook in a word, and whether the session is read-only. */
function Summary ({ webhook: { status, health } }: { webhook: WebhookWithHealth }) {
  const { can } = usePortal()
  const { messages: { endpoints, shell } } = useFormat()
  const { tone, word } = healthWord(status, health)
  return (
    <span class='summary'>
      <Status tone={tone}>{endpoints.health[word]}</Status>
      {!can('write') && <span>{shell.readOnly}</span>}
    </span>
  )
}

/** The frequent actions of a webhook. */
function Actions ({ webhook }: { webhook: Webhook }) {
  const { can } = usePortal()
  const { messages: { endpoint, test } } = useFormat()
  const [isTesting, setTesting] = useState(false)
  return (
    <>
      {can('write') && <Link to={{ screen: 'edit', id: webhook.id }} look='button button-plain'>{endpoint.edit}</Link>}
      {can('test') && <Button kind='primary' onClick={() => setTesting(true)}>{test.action}</Button>}
      {isTesting && <TestDialog webhook={webhook} onClose={() => setTesting(false)} />}
    </>
  )
}

/** Why a webhook receives nothing or not everything, and what to do. */
function HealthNotice ({ webhook, onChanged }: { webhook: WebhookWithHealth, onChanged: () => void }) {
  const { messages: { endpoint: { health: texts, actions } } } = useFormat()
  const {
    status,
    health: { failing_since: failingSince, paused_until: pausedUntil, disabled_reason: reason, held }
  } = webhook
  const isWriter = useCan('write')
  const activate = (label: string) =>
    isWriter && <ActivateButton webhook={webhook} label={label} onChanged={onChanged} />
  if (status === 'inactive') {
    return (
      <Notice tone='off' title={texts.inactive.title}>
        <p>{texts.inactive.text}</p>
        {activate(actions.resume)}
      </Notice>
    )
  }
  if (status === 'disabled') {
    const { title, text } = reason === 'gone' ? texts.gone : texts.tooLong
    return (
      <Notice tone='bad' title={title}>
        <p>{text}</p>
        <GivenUp webhook={webhook} />
        {activate(actions.enable)}
      </Notice>
    )
  }
  return (
    <>
      {held && (
        <Notice tone='waiting' title={texts.held.title}>
          <p>{texts.held.text}</p>
        </Notice>
      )}
      {failingSince !== null && (
        <Since title={texts.failing.title} at={failingSince}>
          <p>{texts.failing.text}</p>
          <GivenUp webhook={webhook} />
        </Since>
      )}
      {pausedUntil !== null && (
        <Since title={texts.waiting.title} at={pausedUntil}>
          <p>{texts.waiting.text}</p>
        </Since>
      )}
    </>
  )
}

function Since ({ title, at, children }: { title: string, at: string, children: ComponentChildren }) {
  const { text, time } = useFormat()
  return <Notice tone='waiting' title={text(title, { time: time(at, useNow(60_000)) })}>{children}</Notice>
}

function GivenUp ({ webhook: { health } }: { webhook: WebhookWithHealth }) {
  const { messages: { endpoints }, plural } = useFormat()
  return health.failed_deliveries > 0
    ? (
      <p>
        <b>{plural(endpoints.health.givenUp, health.failed_deliveries)}</b>
      </p>
      )
    : null
}

/** Makes a paused or disabled webhook active. */
function ActivateButton ({ webhook, label, onChanged }: { webhook: Webhook, label: string, onChanged: () => void }) {
  const { run, isBusy, failure } = useSetStatus(webhook, 'active', onChanged)
  return (
    <>
      {failure !== null && <Problem failure={failure} />}
      <Button kind='primary' onClick={run} isBusy={isBusy}>{label}</Button>
    </>
  )
}

/** The fields of a webhook. */
function Details ({ webhook }: { webhook: WebhookWithHealth }) {
  const { sourceIps } = usePortal()
  const { messages: { endpoint: { details: texts }, form, secret } } = useFormat()
  const { filters, previous_secret_expires_at: graceEnd } = webhook
  return (
    <section class='section'>
      <h2>{texts.title}</h2>
      <dl class='facts'>
        <dt>{texts.url}</dt>
        <dd class='with-copy'>
          <span class='whole' dir='ltr'>
            {showControls(webhook.target_url)}
          </span>{' '}
          <Copy text={webhook.target_url} label={texts.url} isIconOnly />
        </dd>
        <dt>{texts.events}</dt>
        <dd>
          <ul class='chips'>
            {webhook.event_types.map((name) => (
              <li key={name}>
                <code dir='ltr'>{name}</code>
              </li>
            ))}
          </ul>
        </dd>
        {filters !== null && (
          <>
            <dt>{form.filters.label}</dt>
            <dd>
              <ul class='chips'>
                {Object.entries(filters).map(([path, values]) => (
                  <li key={path}>
                    <code dir='ltr'>{showControls(`${path}: ${formatValues(values)}`)}</code>
                  </li>
                ))}
              </ul>
            </dd>
          </>
        )}
        {sourceIps.length > 0 && <SourceIps />}
        {graceEnd !== null && (
          <>
            <dt>{secret.label}</dt>
            <dd>
              <Grace endsAt={graceEnd} />
            </dd>
          </>
        )}
        <dt>{texts.created}</dt>
        <dd>
          <Instant at={webhook.created_at} />
        </dd>
        <dt>{texts.updated}</dt>
        <dd>
          <Instant at={webhook.updated_at} />
        </dd>
      </dl>
    </section>
  )
}

interface ManageProps {
  webhook: WebhookWithHealth
  onChanged: () => void
  onRotated: (webhook: RotatedWebhook) => void
}

/** The rare actions of a webhook, each with its effect. */
function Manage ({ webhook, onChanged, onRotated }: ManageProps) {
  const { can } = usePortal()
  const { messages: { endpoint: { actions: texts } } } = useFormat()
  const [open, setOpen] = useState<'pause' | 'rotate' | 'delete' | null>(null)
  const onClose = () => setOpen(null)
  if (!can('write')) return null
  return (
    <section class='section'>
      <h2>{texts.title}</h2>
      <ul class='manage'>
        {webhook.status === 'active' && (
          <Item text={texts.pauseText}>
            <Button onClick={() => setOpen('pause')}>{texts.pause}</Button>
          </Item>
        )}
        {can('secrets') && (
          <Item text={texts.rotateText}>
            <Button onClick={() => setOpen('rotate')}>{texts.rotate}</Button>
          </Item>
        )}
        <Item text={texts.deleteText}>
          <Button onClick={() => setOpen('delete')}>{texts.delete}</Button>
        </Item>
      </ul>
      {open === 'pause' && <PauseDialog webhook={webhook} onChanged={onChanged} onClose={onClose} />}
      {open === 'rotate' && <RotateDialog webhook={webhook} onRotated={onRotated} onClose={onClose} />}
      {open === 'delete' && <DeleteDialog webhook={webhook} onClose={onClose} />}
    </section>
  )
}

function Item ({ text, children }: { text: string, children: ComponentChildren }) {
  return <li><p class='muted'>{text}</p>{children}</li>
}

/** Counts down how long the previous secret of a webhook is valid. */
function Grace ({ endsAt }: { endsAt: string }) {
  const { messages: { endpoint: { rotate: texts } }, text, span } = useFormat()
  const left = Date.parse(endsAt) - useNow(1000)
  return <p class='grace'>{left > 0 ? text(texts.countdown, { time: span(left) }) : texts.ended}</p>
}

/** Sends a test notification, and shows the result. */
export function TestDialog ({
  webhook: { id, event_types: eventTypes },
  onClose
}: {
  webhook: Webhook
  onClose: () => void
}) {
  const { api } = usePortal()
  const { messages: { shell, test: texts } } = useFormat()
  const [eventType, setEventType] = useState(eventTypes[0] ?? '')
  const [result, setResult] = useState<TestResult | null>(null)
  const sending = useAction(() => api.dispatchTest(id, { event_type: eventType }))
  const send = async () => {
    setResult(null)
    setResult((await sending.run())?.value?.data ?? null)
  }
  const actions = (
    <>
      <Button onClick={onClose}>{shell.close}</Button>
      <Button kind='primary' type='submit' isBusy={sending.isBusy}>
        {result === null ? texts.send : texts.again}
      </Button>
    </>
  )
  return (
    <Dialog title={texts.title} onClose={onClose} onSubmit={send} actions={actions}>
      <p>{texts.text}</p>
      <Field label={texts.eventType}>
        {(control) => (
          <select {...control} value={eventType} onChange={({ currentTarget }) => setEventType(currentTarget.value)}>
            {eventTypes.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
      </Field>
      {/* Always there, so that screen readers say what appears in it. */}
      <div aria-live='polite'>
        {sending.isBusy && <Progress label={texts.waiting} />}
        {result !== null && <TestOutcome result={result} />}
        {sending.failure !== null && <Problem failure={sending.failure} />}
      </div>
    </Dialog>
  )
}

/** The result of a test in words, and what to try after a failure. */
function TestOutcome ({ result: { response_status: status, duration_ms: ms, error } }: { result: TestResult }) {
  const { messages: { test: texts }, text, duration } = useFormat()
  const spent = duration(ms)
  if (error === null) {
    return <Notice tone='good' title={text(texts.delivered, { status: String(status), duration: spent })} />
  }
  if (error === 'held') {
    return (
      <Notice tone='waiting' title={texts.errors.held.title}>
        <p>{texts.errors.held.text}</p>
      </Notice>
    )
  }
  const remedy = texts.errors[knownError(error, texts.errors)]
  const hint = status === null ? null : statusHint(status)
  return (
    <Notice tone='bad' title={remedy.title}>
      <p>
        {status === null
          ? text(texts.unanswered, { duration: spent })
          : text(texts.answered, { status: String(status), duration: spent })}
      </p>
      <p>{hint === null ? remedy.text : texts.statuses[hint]}</p>
    </Notice>
  )
}

/** Explains pausing, and pauses. */
export function PauseDialog ({
  webhook,
  onChanged,
  onClose
}: {
  webhook: Webhook
  onChanged: () => void
  onClose: () => void
}) {
  const {
    messages: {
      endpoint: { actions: texts }
    },
    text
  } = useFormat()
  const pausing = useSetStatus(webhook, 'inactive', () => {
    onClose()
    onChanged()
  })
  return (
    <AskDialog
      title={text(texts.pauseTitle, { name: webhook.name })}
      label={texts.pause}
      action={pausing}
      onConfirm={pausing.run}
      onClose={onClose}
    >
      <p>{texts.pauseText}</p>
    </AskDialog>
  )
}

/** Pauses or activates a webhook, and announces it. The pressed button disappears, so the title gets the focus. */
export function useSetStatus ({ id, name }: Webhook, status: 'active' | 'inactive', onChanged: () => void) {
  const { api, announce, title } = usePortal()
  const { messages: { endpoint: { actions: texts } }, text } = useFormat()
  const action = useAction(() => api.updateWebhook(id, { status }))
  const run = async () => {
    if ((await action.run())?.failure !== null) return
    announce(text(status === 'active' ? texts.resumed : texts.paused, { name }))
    onChanged()
    requestAnimationFrame(() => title.current?.focus())
  }
  return { ...action, run }
}

const graces = [['none', 0], ['hour', 3600], ['day', 86_400], ['week', 604_800]] as const

/** Asks how long the old secret stays valid, and rotates it. */
export function RotateDialog ({
  webhook: { id },
  onRotated,
  onClose
}: {
  webhook: Webhook
  onRotated: (webhook: RotatedWebhook) => void
  onClose: () => void
}) {
  const { api } = usePortal()
  const {
    messages: {
      endpoint: { rotate: texts, actions }
    }
  } = useFormat()
  const [seconds, setSeconds] = useState<number>(86_400)
  const rotating = useAction(() => api.rotateSecret(id, seconds))
  const rotate = async () => {
    const data = (await rotating.run())?.value?.data
    if (data !== undefined) onRotated(data)
  }
  return (
    <AskDialog title={actions.rotate} label={actions.rotate} action={rotating} onConfirm={rotate} onClose={onClose}>
      <p>{texts.text}</p>
      <fieldset class='options'>
        <legend>{texts.grace}</legend>
        {graces.map(([name, value]) => (
          <label key={name}>
            <input type='radio' name='grace' checked={value === seconds} onChange={() => setSeconds(value)} />
            <span>
              {texts[name]}
              {name === 'none' && <span class='muted'>{texts.noneText}</span>}
            </span>
          </label>
        ))}
      </fieldset>
    </AskDialog>
  )
}

/** Deletes a webhook once its name is typed. */
export function DeleteDialog ({ webhook: { id, name }, onClose }: { webhook: Webhook, onClose: () => void }) {
  const { api, announce, leave } = usePortal()
  const { messages: { endpoint: { actions: texts } }, text } = useFormat()
  const deleting = useAction(() => api.deleteWebhook(id))
  const remove = async () => {
    const result = await deleting.run()
    // Someone else may have deleted it first.
    if (result?.failure !== null && result?.failure.code !== 'not_found') return
    announce(text(texts.deleted, { name }))
    leave({ screen: 'endpoints' })
  }
  return (
    <ConfirmByName
      title={text(texts.deleteTitle, { name })}
      name={name}
      label={texts.deleteAction}
      action={deleting}
      onConfirm={remove}
      onClose={onClose}
    >
      <p>{texts.deleteText}</p>
    </ConfirmByName>
  )
}
