import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Attempt, Delivery, DeliveryWithAttempts, WebhookWithHealth } from './api.js'
import { curlCommand } from './deliveries.js'
import { useAction, usePortal, useQuery, useRefresh } from './hooks.js'
import { Button, CodeBlock, Copy, CopyLine, Icon, Link } from './parts/controls.js'
import { Countdown, Fact, Instant, Loaded, Name, Notice, Problem, Section, Status } from './parts/feedback.js'
import { Screen } from './parts/frames.js'
import { adviceFor, describeResult, isErased, prettyJson, tones } from './text.js'

/** One delivery: its body, its attempts, and possible actions. */
export function DeliveryScreen ({ id, deliveryId }: { id: number, deliveryId: number }) {
  const { api, can, messages: { delivery: texts } } = usePortal()
  const query = useQuery<DeliveryWithAttempts>(
    (signal) => api.webhooks.findDelivery(id, deliveryId, signal), [id, deliveryId]
  )
  const webhook = useQuery((signal) => api.webhooks.find(id, signal), [id]).value ?? null
  const delivery = query.value
  useRefresh(query, delivery?.status === 'pending' ? 2000 : null)
  return (
    <Screen
      title={delivery === null ? texts.title : <Name>{delivery.event_type}</Name>}
      back={{ to: { screen: 'endpoint', id }, label: webhook?.name ?? texts.back }}
    >
      <Loaded query={query}>
        {(delivery) => (
          <>
            <section class='card delivery-summary'>
              <Summary delivery={delivery} />
              {can('replay') && <Retry webhook={webhook} webhookId={id} delivery={delivery} onRetried={query.reload} />}
            </section>
            <Attempts delivery={delivery} />
            {webhook !== null && <RequestSection webhook={webhook} delivery={delivery} />}
            <Body body={delivery.body} />
          </>
        )}
      </Loaded>
    </Screen>
  )
}

function Summary ({ delivery }: { delivery: DeliveryWithAttempts }) {
  const { messages: { delivery: texts, log } } = usePortal()
  const { filter } = log
  const { status, delivered_at: deliveredAt } = delivery
  return (
    <>
      <p class='delivery-outcome'>
        <Status tone={tones[status]}>{log.status[status]}</Status> <Outcome delivery={delivery} />
      </p>
      <dl class='facts facts-wide'>
        <Fact label={filter.eventId}><CopyLine text={delivery.event_id} label={filter.eventId} /></Fact>
        <Fact label={filter.eventType}><CopyLine text={delivery.event_type} label={filter.eventType} /></Fact>
        <Fact label={texts.created}><Instant at={delivery.created_at} /></Fact>
        {deliveredAt !== null && <Fact label={log.status.delivered}><Instant at={deliveredAt} /></Fact>}
      </dl>
    </>
  )
}

function Outcome ({ delivery: { status, attempt_count: count } }: { delivery: DeliveryWithAttempts }) {
  const { messages: { delivery: { outcome } }, plural } = usePortal()
  switch (status) {
    case 'pending': return <>{count === 0 ? outcome.first : plural(outcome.pending, count)}</>
    case 'delivered': return <>{plural(outcome.delivered, count)}</>
    case 'failed': return <>{plural(outcome.failed, count)}</>
    default: return <>{outcome[status]}</>
  }
}

interface RetryProps {
  webhookId: number
  /** `null` while it loads. */
  webhook: WebhookWithHealth | null
  delivery: DeliveryWithAttempts
  onRetried: () => void
}

/** Retries a delivery, and shows the result. */
function Retry ({ webhookId, webhook, delivery, onRetried }: RetryProps) {
  const { api, announce, messages: { delivery: { retry: texts }, replay } } = usePortal()
  const [retried, setRetried] = useState<Delivery | null>(null)
  const retry = useAction(() => api.webhooks.retryDelivery(webhookId, delivery.id), (next) => {
    setRetried(next)
    announce(next.id === delivery.id ? texts.nowSent : texts.againSent)
    onRetried()
  })
  // A 400 has no other cause here, and the vendor may hide the details.
  const isInactive = retry.failure?.code === 'bad_request' || (webhook !== null && webhook.status !== 'active')
  return (
    <div class='delivery-retry'>
      {!isInactive && (
        <div>
          <Button
            kind={delivery.status === 'delivered' ? 'plain' : 'primary'} icon='replay' onClick={retry.run}
            isBusy={retry.isBusy}
          >
            {delivery.status === 'pending' ? texts.now : texts.again}
          </Button>
        </div>
      )}
      {isInactive && (
        <Notice tone='off' {...replay.inactive}>
          <p><Link to={{ screen: 'endpoint', id: webhookId }}>{texts.toWebhook}</Link></p>
        </Notice>
      )}
      {retry.failure !== null && !isInactive && <Problem failure={retry.failure} />}
      {retried !== null && <RetryResult key={retried.id} webhookId={webhookId} from={delivery.id} retried={retried} />}
    </div>
  )
}

/** Polls a retry until its attempt is finished. */
function RetryResult ({ webhookId, from, retried }: { webhookId: number, from: number, retried: Delivery }) {
  const portal = usePortal()
  const { api, announce, messages: { delivery: { retry: texts }, log } } = portal
  const query = useQuery((signal) => api.webhooks.findDelivery(webhookId, retried.id, signal), [])
  const current = query.value ?? retried
  const isOver = current.status !== 'pending' || current.attempt_count > retried.attempt_count
  useRefresh(query, isOver ? null : 1000)
  const words = [log.status[current.status], isOver ? describeResult(current, portal) : null]
    .filter((part) => part !== null)
    .join(': ')
  useEffect(() => { if (isOver) announce(words) }, [isOver])
  return (
    <Notice
      tone={isOver ? tones[current.status] : 'waiting'} title={words}
      text={retried.id === from ? texts.nowSent : texts.againSent}
    >
      {retried.id !== from && (
        <p><Link to={{ screen: 'delivery', id: webhookId, deliveryId: retried.id }}>{texts.open}</Link></p>
      )}
    </Notice>
  )
}

/** A timeline of the next attempt and the past ones, newest first. */
function Attempts ({ delivery: { attempts, next_attempt_at: nextAt } }: { delivery: DeliveryWithAttempts }) {
  const { messages: { delivery: texts } } = usePortal()
  return (
    <Section title={texts.attempts.title}>
      {attempts.length === 0 && nextAt === null && <p class='muted'>{texts.attempts.none}</p>}
      <ol class='timeline' reversed>
        {nextAt !== null && (
          <Moment tone='waiting' title={texts.next}>
            <p class='muted'><Countdown at={nextAt} due={texts.due} /></p>
          </Moment>
        )}
        {attempts
          .map((attempt, index) => (
            <PastAttempt key={index} attempt={attempt} number={index + 1} next={attempts[index + 1]} />
          ))
          .reverse()}
      </ol>
    </Section>
  )
}

function Moment (
  { tone, title, children }: { tone: 'good' | 'waiting' | 'bad', title: string | null, children: ComponentChildren }
) {
  return <li class={`moment moment-${tone}`}><Icon name={tone} /><div><h3>{title}</h3>{children}</div></li>
}

/** Shows advice only for the last of several attempts that failed the same way. */
function PastAttempt ({ attempt, number, next }: { attempt: Attempt, number: number, next: Attempt | undefined }) {
  const portal = usePortal()
  const { messages: { delivery: { attempts: texts }, test }, text, duration } = portal
  const { started_at: startedAt, duration_ms: durationMs, response_excerpt: excerpt, error } = attempt
  const which = text(texts.number, { number })
  const advice = adviceFor(attempt, test)
  return (
    <Moment tone={error === null ? 'good' : 'bad'} title={describeResult(attempt, portal)}>
      <p class='muted'>
        {which} · <Instant at={startedAt} /> · {text(texts.duration, { duration: duration(durationMs) })}
      </p>
      {advice !== null && (next === undefined || adviceFor(next, test) !== advice) && <p>{advice}</p>}
      {excerpt !== null && excerpt !== '' && (
        <>
          <p class='muted'>{texts.excerpt}</p>
          <CodeBlock code={prettyJson(excerpt)} exact={excerpt} label={`${which}: ${texts.excerpt}`} />
        </>
      )}
    </Moment>
  )
}

/** The body of the notification: indented on screen, exact when copied. */
function Body ({ body }: { body: string | null }) {
  const { messages: { delivery: { body: texts } } } = usePortal()
  const shown = useMemo(() => body === null ? '' : prettyJson(body), [body])
  if (body === null) return <Section title={texts.title}><p class='muted'>{texts.hidden}</p></Section>
  return (
    <Section title={texts.title}>
      {isErased(body) && <Notice tone='off' {...texts.erased} />}
      <p class='muted'>{texts.note}</p>
      <CodeBlock code={shown} exact={body} label={texts.label} />
    </Section>
  )
}

/** A delivery's headers, and a command that sends it again. Signatures are not stored: each attempt has its own. */
function RequestSection (
  { webhook, delivery }: { webhook: WebhookWithHealth, delivery: DeliveryWithAttempts }
) {
  const { messages: { delivery: { request: texts } } } = usePortal()
  const { target_url: url } = webhook
  const { event_id: eventId, body } = delivery
  const headerNames = Object.keys(webhook.headers ?? {})
  const headers = [
    'content-type: application/json', 'user-agent: fastify-recruiting-api', `webhook-id: ${eventId}`,
    `webhook-timestamp: <${texts.timestamp}>`, `webhook-signature: v1,<${texts.signature}>`,
    ...headerNames.map((name) => `${name}: <${texts.hidden}>`)
  ]
  return (
    <Section title={texts.title}>
      <CodeBlock code={`POST ${url}\n${headers.join('\n')}`} label={texts.label} />
      {body !== null && (
        <>
          <p class='muted'>{texts.note}</p>
          <div>
            <Copy text={curlCommand({ url, eventId, body, headerNames })} label={texts.curl} caption={texts.curl} />
          </div>
        </>
      )}
    </Section>
  )
}
