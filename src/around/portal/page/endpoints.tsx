import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Activity } from './activity.js'
import {
  type RotatedWebhook, type TestResult, type Webhook, type WebhookHealth, type WebhookStatus, type WebhookWithHealth,
  orGone
} from './api.js'
import { formatFilters } from './draft.js'
import { useAction, useNow, usePagedQuery, usePortal, useQuery, useRefresh } from './hooks.js'
import { Log } from './log.js'
import { Button, CopyLine, Icon, Link } from './parts/controls.js'
import { Chips, Fact, Instant, Loaded, Name, Notice, Problem, Progress, SourceIps, Status, Url } from './parts/feedback.js'
import { SelectField } from './parts/fields.js'
import { AddLink, Confirm, Dialog, ListScreen, Screen } from './parts/frames.js'
import { RotateDialog, WebhookSecret } from './secret.js'
import { adviceFor, describeFailure, healthWord } from './text.js'

/** The tenant's webhooks, with their health in words. */
export function EndpointsScreen () {
  const { api, can, messages: { shell, endpoints: { intro, empty, add } } } = usePortal()
  const webhooks = usePagedQuery(api.webhooks.list)
  // A new webhook is useless without its secret.
  const isCreator = can('write') && can('secrets')
  return (
    <ListScreen
      title={shell.title} intro={intro} list={webhooks}
      empty={{ title: empty.title, text: can('write') ? empty.text : empty.readOnly }}
      add={isCreator && <AddLink to={{ screen: 'create' }}>{add}</AddLink>}
    >
      {(webhook) => <EndpointRow key={webhook.id} webhook={webhook} />}
    </ListScreen>
  )
}

/** A row of the list. Lists contain no health, so each row loads its own. */
function EndpointRow ({ webhook }: { webhook: Webhook }) {
  const { api, messages: { endpoints }, plural } = usePortal()
  const { value } = useQuery((signal) => api.webhooks.find(webhook.id, signal), [webhook.id, webhook.updated_at])
  return (
    <li class='row'>
      <div class='row-main'>
        <h2><Link to={{ screen: 'endpoint', id: webhook.id }} look='row-link'><Name>{webhook.name}</Name></Link></h2>
        <Url>{webhook.target_url}</Url>
        <p class='muted'>{plural(endpoints.events, webhook.event_types.length)}</p>
      </div>
      <Health status={webhook.status} health={value?.health ?? null} />
      <Icon name='forward' />
    </li>
  )
}

/** A webhook's health in a word, with the reason. */
function Health ({ status, health }: { status: WebhookStatus, health: WebhookHealth | null }) {
  const { messages: { endpoints }, plural } = usePortal()
  const { tone, word } = healthWord(status, health)
  const reason = useReason(status, health)
  const givenUp = word === 'active' ? 0 : health?.failed_deliveries ?? 0
  return (
    <div class='health'>
      <Status tone={tone}>{endpoints.health[word]}</Status>
      {reason !== null && <p class='muted'>{reason}</p>}
      {givenUp > 0 && <p class='muted'>{plural(endpoints.health.givenUp, givenUp)}</p>}
    </div>
  )
}

function useReason (status: WebhookStatus, health: WebhookHealth | null): string | null {
  const { messages: { endpoint, endpoints: { health: texts } }, text, time } = usePortal()
  const now = useNow(30_000)
  if (status === 'inactive') return endpoint.health.inactive.title
  if (health?.disabled_reason === 'gone') return texts.gone
  if (health?.disabled_reason === 'failing') return texts.failedTooLong
  return health?.failing_since == null ? null : text(texts.since, { time: time(health.failing_since, now) })
}

/** One webhook: its health and all its actions. */
export function EndpointScreen ({ id }: { id: number }) {
  const { api, messages: { shell, endpoint } } = usePortal()
  const query = useQuery((signal) => api.webhooks.find(id, signal), [id])
  const [rotated, setRotated] = useState<RotatedWebhook | null>(null)
  const webhook = query.value
  useRefresh(query, rotated === null ? 10_000 : null)
  if (rotated !== null) {
    const close = () => {
      setRotated(null)
      query.reload()
    }
    return <WebhookSecret webhook={rotated} onStored={close} />
  }
  return (
    <Screen
      title={webhook === null ? endpoint.title : <Name>{webhook.name}</Name>}
      intro={webhook && <Summary webhook={webhook} />} actions={webhook && <Actions webhook={webhook} />}
      back={{ to: { screen: 'endpoints' }, label: shell.title }}
    >
      <Loaded query={query}>
        {(webhook) => (
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
      </Loaded>
    </Screen>
  )
}

/** A webhook's health in a word, and whether the session is read-only. */
function Summary ({ webhook: { status, health } }: { webhook: WebhookWithHealth }) {
  const { can, messages: { endpoints, shell } } = usePortal()
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
  const { can, messages: { endpoint, test } } = usePortal()
  const [isTesting, setTesting] = useState(false)
  return (
    <>
      {can('write') && <Link to={{ screen: 'edit', id: webhook.id }} look='button button-plain'>{endpoint.edit}</Link>}
      {can('test') && <Button kind='primary' onClick={() => setTesting(true)}>{test.action}</Button>}
      {isTesting && <TestDialog webhook={webhook} onClose={() => setTesting(false)} />}
    </>
  )
}

/** Explains why a webhook receives nothing or only some events, and what to do. */
function HealthNotice ({ webhook, onChanged }: { webhook: WebhookWithHealth, onChanged: () => void }) {
  const { can, messages: { endpoint: { health: texts, actions } } } = usePortal()
  const {
    status, health: { failing_since: failingSince, paused_until: pausedUntil, disabled_reason: reason, held }
  } = webhook
  const activate = (label: string) =>
    can('write') && <ActivateButton webhook={webhook} label={label} onChanged={onChanged} />
  if (status === 'inactive') return <Notice tone='off' {...texts.inactive}>{activate(actions.resume)}</Notice>
  if (status === 'disabled') {
    return (
      <Notice tone='bad' {...reason === 'gone' ? texts.gone : texts.tooLong}>
        <GivenUp webhook={webhook} />
        {activate(actions.enable)}
      </Notice>
    )
  }
  return (
    <>
      {held && <Notice tone='waiting' {...texts.held} />}
      {failingSince !== null && <Since {...texts.failing} at={failingSince}><GivenUp webhook={webhook} /></Since>}
      {pausedUntil !== null && <Since {...texts.waiting} at={pausedUntil} />}
    </>
  )
}

interface SinceProps {
  /** With the placeholder `{time}`. */
  title: string
  text: string
  at: string
  children?: ComponentChildren
}

function Since ({ title, at, ...rest }: SinceProps) {
  const { text, time } = usePortal()
  return <Notice tone='waiting' title={text(title, { time: time(at, useNow(60_000)) })} {...rest} />
}

function GivenUp ({ webhook: { health: { failed_deliveries: count } } }: { webhook: WebhookWithHealth }) {
  const { messages: { endpoints }, plural } = usePortal()
  return count > 0 ? <p><b>{plural(endpoints.health.givenUp, count)}</b></p> : null
}

/** Makes a paused or disabled webhook active. */
function ActivateButton ({ webhook, label, onChanged }: { webhook: Webhook, label: string, onChanged: () => void }) {
  const { act, onDone } = useStatusChange(webhook, 'active', onChanged)
  const { run, isBusy, failure } = useAction(act, onDone)
  return (
    <>
      {failure !== null && <Problem failure={failure} />}
      <Button kind='primary' onClick={run} isBusy={isBusy}>{label}</Button>
    </>
  )
}

/**
 * Returns functions that pause or activate a webhook and announce the result. The pressed button disappears, so the
 * title gets the focus.
 */
function useStatusChange ({ id, name }: Webhook, status: 'active' | 'inactive', onChanged: () => void) {
  const { api, announce, focusTitle, messages: { endpoint: { actions: texts } }, text } = usePortal()
  return {
    act: () => api.webhooks.update(id, { status }),
    onDone () {
      announce(text(status === 'active' ? texts.resumed : texts.paused, { name }))
      onChanged()
      focusTitle()
    }
  }
}

function Details ({ webhook }: { webhook: WebhookWithHealth }) {
  const { messages: { endpoint: { details: texts }, form, secret }, text, instant } = usePortal()
  const { filters, changed, created_by: { id: creator }, previous_secret_expires_at: graceEnd } = webhook
  return (
    <section class='section'>
      <h2>{texts.title}</h2>
      <dl class='facts'>
        <Fact label={form.url.label}><CopyLine text={webhook.target_url} label={form.url.label} /></Fact>
        <Fact label={form.events.label}><Chips texts={webhook.event_types} /></Fact>
        {filters !== null && <Fact label={form.filters.label}><Chips texts={formatFilters(filters)} /></Fact>}
        {changed !== null && <Fact label={form.changed.label}><Chips texts={changed} /></Fact>}
        {webhook.contact !== null && <Fact label={form.contact.label}><Name>{webhook.contact}</Name></Fact>}
        <SourceIps />
        {graceEnd !== null && (
          <Fact label={secret.label}><p>{text(secret.bothUntil, { time: instant(graceEnd) })}</p></Fact>
        )}
        <Fact label={texts.created}><Instant at={webhook.created_at} /></Fact>
        {creator !== null && <Fact label={texts.creator}><Name>{creator}</Name></Fact>}
        <Fact label={texts.updated}><Instant at={webhook.updated_at} /></Fact>
      </dl>
    </section>
  )
}

interface ManageProps {
  webhook: WebhookWithHealth
  onChanged: () => void
  onRotated: (webhook: RotatedWebhook) => void
}

/** Less frequent actions, each with its effect. */
function Manage ({ webhook, onChanged, onRotated }: ManageProps) {
  const { api, can, messages: { endpoint: { actions: texts, rotate } } } = usePortal()
  const [open, setOpen] = useState<'pause' | 'rotate' | 'delete' | null>(null)
  const onClose = () => setOpen(null)
  if (!can('write')) return null
  const items = [
    ...webhook.status === 'active' ? ['pause'] as const : [], ...can('secrets') ? ['rotate'] as const : [], 'delete'
  ] as const
  return (
    <section class='section'>
      <h2>{texts.title}</h2>
      <ul class='manage'>
        {items.map((name) => (
          <li key={name}>
            <p class='muted'>{texts[`${name}Text`]}</p>
            <Button onClick={() => setOpen(name)}>{texts[name]}</Button>
          </li>
        ))}
      </ul>
      {open === 'pause' && <PauseDialog webhook={webhook} onChanged={onChanged} onClose={onClose} />}
      {open === 'rotate' && (
        <RotateDialog
          texts={{ title: texts.rotate, label: texts.rotate, text: rotate.text, grace: rotate.grace }}
          noneText={rotate.noneText} rotate={(options) => api.webhooks.rotateSecret(webhook.id, options)}
          onRotated={onRotated} onClose={onClose}
        />
      )}
      {open === 'delete' && <DeleteDialog webhook={webhook} onClose={onClose} />}
    </section>
  )
}

/** Asks before it pauses a webhook. */
function PauseDialog ({ webhook, onChanged, onClose }: Omit<ManageProps, 'onRotated'> & { onClose: () => void }) {
  const { messages: { endpoint: { actions: texts } }, text } = usePortal()
  const change = useStatusChange(webhook, 'inactive', () => {
    onClose()
    onChanged()
  })
  return (
    <Confirm {...change} title={text(texts.pauseTitle, { name: webhook.name })} label={texts.pause} onClose={onClose}>
      <p>{texts.pauseText}</p>
    </Confirm>
  )
}

/** Deletes a webhook after the user types its name. */
function DeleteDialog ({ webhook: { id, name }, onClose }: { webhook: Webhook, onClose: () => void }) {
  const { api, announce, leave, messages: { endpoint: { actions: texts } }, text } = usePortal()
  const onDeleted = () => {
    announce(text(texts.deleted, { name }))
    leave({ screen: 'endpoints' })
  }
  return (
    <Confirm
      title={text(texts.deleteTitle, { name })} name={name} label={texts.deleteAction} kind='danger'
      act={async () => orGone(await api.webhooks.delete(id))} onDone={onDeleted} onClose={onClose}
    >
      <p>{texts.deleteText}</p>
    </Confirm>
  )
}

/** Sends a test notification, and shows the result. */
function TestDialog (
  { webhook: { id, event_types: eventTypes }, onClose }: { webhook: Webhook, onClose: () => void }
) {
  const { api, messages: { log, shell, test: texts } } = usePortal()
  const [eventType, setEventType] = useState(eventTypes[0] ?? '')
  const [result, setResult] = useState<TestResult | null>(null)
  const sending = useAction(() => api.webhooks.test(id, { event_type: eventType }), setResult)
  const send = () => {
    setResult(null)
    sending.run()
  }
  const actions = (
    <>
      <Button onClick={onClose}>{shell.close}</Button>
      <Button kind='primary' type='submit' isBusy={sending.isBusy}>{result === null ? texts.send : texts.again}</Button>
    </>
  )
  return (
    <Dialog title={texts.action} onClose={onClose} onSubmit={send} actions={actions}>
      <p>{texts.text}</p>
      <SelectField
        label={log.filter.eventType} value={eventType} options={eventTypes.map((name) => [name, name])}
        onValue={setEventType}
      />
      {/* Always rendered, so that screen readers announce what appears in it. */}
      <div aria-live='polite'>
        {sending.isBusy && <Progress label={texts.waiting} />}
        {result !== null && <TestOutcome result={result} />}
        {sending.failure !== null && <Problem failure={sending.failure} />}
      </div>
    </Dialog>
  )
}

/** The result of a test in words, and what to try after a failure. */
function TestOutcome ({ result }: { result: TestResult }) {
  const { messages: { endpoint: { health }, problem, test: texts }, text, duration } = usePortal()
  const { response_status: status, error } = result
  const params = { status: String(status), duration: duration(result.duration_ms) }
  if (error === null) return <Notice tone='good' title={text(texts.delivered, params)} />
  if (error === 'suspended') return <Notice tone='waiting' {...problem.suspended} />
  if (error === 'held') return <Notice tone='waiting' {...health.held} />
  if (error === 'unavailable') return <Notice tone='waiting' {...texts.errors.unavailable} />
  const { title } = describeFailure(result, texts)
  return (
    <Notice tone='bad' title={title} text={text(status === null ? texts.unanswered : texts.answered, params)}>
      <p>{adviceFor(result, texts)}</p>
    </Notice>
  )
}
