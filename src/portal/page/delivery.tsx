import type { ComponentChildren } from 'preact'
import { useEffect, useId, useMemo, useState } from 'preact/hooks'
import type { Attempt, Delivery, DeliveryWithAttempts, WebhookWithHealth } from './api.js'
import { curlCommand } from './deliveries.js'
import { useAction, useCan, useEvery, useFormat, useNow, usePortal, useQuery } from './hooks.js'
import { Button, CodeBlock, Copy, Icon, Link } from './parts/controls.js'
import { Instant, Name, Notice, Problem, Skeleton, Status } from './parts/feedback.js'
import { Screen } from './shell.js'
import { adviceFor, describeResult, isErased, prettyJson, toneOf } from './text.js'

const pollMs = 2000

/** One delivery: its body, its attempts, and possible actions. */
export function DeliveryScreen ({ id, deliveryId }: { id: number, deliveryId: number }) {
  const { api } = usePortal()
  const { messages: { delivery: texts } } = useFormat()
  const canReplay = useCan('replay')
  const query = useQuery((signal) => api.findDelivery(id, deliveryId, signal), [id, deliveryId])
  const webhook = useQuery((signal) => api.findWebhook(id, signal), [id])
  const delivery = query.value?.data ?? null
  useEvery(delivery?.status === 'pending' ? pollMs : null, query.reload)
  return (
    <Screen
      title={delivery === null ? texts.title : <Name>{delivery.event_type}</Name>}
      back={{ to: { screen: 'endpoint', id }, label: webhook.value?.data.name ?? texts.back }}
    >
      {query.failure !== null && <Problem failure={query.failure} onRetry={query.reload} isBusy={query.isLoading} />}
      {delivery === null && query.failure === null && <Skeleton lines={4} />}
      {delivery !== null && (
        <>
          <Summary delivery={delivery}>
            {canReplay && (
              <Retry
                webhook={webhook.value?.data ?? null}
                webhookId={id}
                delivery={delivery}
                onRetried={query.reload}
              />
            )}
          </Summary>
          <Attempts delivery={delivery} />
          {webhook.value !== null && <RequestSection webhook={webhook.value.data} delivery={delivery} />}
          <Body body={delivery.body} />
        </>
      )}
    </Screen>
  )
}

function Summary ({ delivery, children }: { delivery: DeliveryWithAttempts, children: ComponentChildren }) {
  const { messages: { delivery: texts, log } } = useFormat()
  const {
    status,
    event_id: eventId,
    event_type: eventType,
    created_at: createdAt,
    delivered_at: deliveredAt
  } = delivery
  return (
    <section class='card delivery-summary'>
      <p class='delivery-outcome'>
        <Status tone={toneOf(status)}>{log.status[status]}</Status> <Outcome delivery={delivery} />
      </p>
      <dl class='facts facts-wide'>
        <CopyFact label={texts.eventId} text={eventId} />
        <CopyFact label={texts.eventType} text={eventType} />
        <Fact label={texts.created}>
          <Instant at={createdAt} />
        </Fact>
        {deliveredAt !== null && (
          <Fact label={texts.deliveredAt}>
            <Instant at={deliveredAt} />
          </Fact>
        )}
      </dl>
      {children}
    </section>
  )
}

function Outcome ({ delivery: { status, attempt_count: count } }: { delivery: DeliveryWithAttempts }) {
  const { messages: { delivery: { outcome } }, plural } = useFormat()
  switch (status) {
    case 'pending': return <>{count === 0 ? outcome.first : plural(outcome.pending, count)}</>
    case 'delivered': return <>{plural(outcome.delivered, count)}</>
    case 'failed': return <>{plural(outcome.failed, count)}</>
    default: return <>{outcome[status]}</>
  }
}

/** A line of a `<dl>`. */
function Fact ({ label, children }: { label: string, children: ComponentChildren }) {
  return <div><dt>{label}</dt><dd class='with-copy'>{children}</dd></div>
}

/** A fact with a button that copies it. */
function CopyFact ({ label, text }: { label: string, text: string }) {
  return (
    <Fact label={label}>
      <code class='whole'>
        <Name>{text}</Name>
      </code>{' '}
      <Copy text={text} label={label} isIconOnly />
    </Fact>
  )
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
  const { api, announce, format: { messages: { delivery: { retry: texts } } } } = usePortal()
  const retry = useAction(api.retryDelivery)
  const [retried, setRetried] = useState<Delivery | null>(null)
  const isPending = delivery.status === 'pending'
  const send = async () => {
    const result = await retry.run(webhookId, delivery.id)
    if (result?.value == null) return
    const { data } = result.value
    setRetried(data)
    announce(data.id === delivery.id ? texts.nowSent : texts.againSent)
    onRetried()
  }
  // A 400 has no other cause here, and the vendor may hide the details.
  const isInactive = retry.failure?.code === 'bad_request' || (webhook !== null && webhook.status !== 'active')
  return (
    <div class='delivery-retry'>
      {!isInactive && (
        <div>
          <Button
            kind={delivery.status === 'delivered' ? 'plain' : 'primary'}
            icon='replay'
            onClick={send}
            isBusy={retry.isBusy}
          >
            {isPending ? texts.now : texts.again}
          </Button>
        </div>
      )}
      {isInactive && <InactiveNotice webhookId={webhookId} />}
      {retry.failure !== null && !isInactive && <Problem failure={retry.failure} />}
      {retried !== null && <RetryResult key={retried.id} webhookId={webhookId} from={delivery.id} retried={retried} />}
    </div>
  )
}

function InactiveNotice ({ webhookId }: { webhookId: number }) {
  const { messages: { delivery: { retry: texts } } } = useFormat()
  return (
    <Notice tone='off' title={texts.inactive.title}>
      <p>{texts.inactive.text}</p>
      <p><Link to={{ screen: 'endpoint', id: webhookId }}>{texts.toWebhook}</Link></p>
    </Notice>
  )
}

const retryPollMs = 1000

/** Follows a retry until its attempt has ended. */
function RetryResult ({ webhookId, from, retried }: { webhookId: number, from: number, retried: Delivery }) {
  const { api, announce, format } = usePortal()
  const { messages: { delivery: { retry: texts }, log } } = format
  const { value, reload } = useQuery((signal) => api.findDelivery(webhookId, retried.id, signal), [])
  const current = value?.data ?? retried
  const isOver = current.status !== 'pending' || current.attempt_count > retried.attempt_count
  useEvery(isOver ? null : retryPollMs, reload)
  const words = [log.status[current.status], isOver ? describeResult(current, format) : null]
    .filter((part) => part !== null)
    .join(': ')
  useEffect(() => { if (isOver) announce(words) }, [isOver])
  return (
    <Notice tone={isOver ? toneOf(current.status) : 'waiting'} title={words}>
      <p>{retried.id === from ? texts.nowSent : texts.againSent}</p>
      {retried.id !== from && (
        <p>
          <Link to={{ screen: 'delivery', id: webhookId, deliveryId: retried.id }}>{texts.open}</Link>
        </p>
      )}
    </Notice>
  )
}

/** The attempts on a time line, newest first, below the next one. */
function Attempts ({ delivery: { attempts, next_attempt_at: nextAt } }: { delivery: DeliveryWithAttempts }) {
  const { messages: { delivery: texts } } = useFormat()
  const id = useId()
  return (
    <section class='section' aria-labelledby={id}>
      <h2 id={id}>{texts.attempts.title}</h2>
      {attempts.length === 0 && nextAt === null && <p class='muted'>{texts.attempts.none}</p>}
      <ol class='timeline' reversed>
        {nextAt !== null && (
          <li class='moment moment-waiting'>
            <Icon name='waiting' />
            <div>
              <h3>{texts.next}</h3>
              <p class='muted'>
                <Countdown at={nextAt} />
              </p>
            </div>
          </li>
        )}
        {attempts
          .map((attempt, index) => (
            <Moment key={index} attempt={attempt} number={index + 1} next={attempts[index + 1]} />
          ))
          .reverse()}
      </ol>
    </section>
  )
}

/** Shows the advice only at the last of several attempts that failed the same way. */
function Moment ({ attempt, number, next }: { attempt: Attempt, number: number, next: Attempt | undefined }) {
  const format = useFormat()
  const { messages: { delivery: texts, test }, text, duration } = format
  const which = text(texts.attempts.number, { number })
  const advice = adviceFor(attempt, test)
  const tone = attempt.error === null ? 'good' : 'bad'
  return (
    <li class={`moment moment-${tone}`}>
      <Icon name={tone} />
      <div>
        <h3>{describeResult(attempt, format)}</h3>
        <p class='muted'>
          {which} · <Instant at={attempt.started_at} /> ·{' '}
          {text(texts.attempts.duration, { duration: duration(attempt.duration_ms) })}
        </p>
        {advice !== null && (next === undefined || adviceFor(next, test) !== advice) && <p>{advice}</p>}
        {attempt.response_excerpt !== null && attempt.response_excerpt !== '' && (
          <>
            <p class='muted'>{texts.attempts.excerpt}</p>
            <CodeBlock
              code={prettyJson(attempt.response_excerpt)}
              exact={attempt.response_excerpt}
              label={`${which}: ${texts.attempts.excerpt}`}
            />
          </>
        )}
      </div>
    </li>
  )
}

/** The time of the next attempt, counted down. */
function Countdown ({ at }: { at: string }) {
  const { messages: { delivery }, relative, instant } = useFormat()
  const now = useNow(1000)
  return <time dateTime={at} title={instant(at)}>{Date.parse(at) <= now ? delivery.due : relative(at, now)}</time>
}

/** The body of the notification: indented on screen, exact when copied. */
function Body ({ body }: { body: string | null }) {
  const { messages: { delivery: { body: texts } } } = useFormat()
  const id = useId()
  const shown = useMemo(() => body === null ? '' : prettyJson(body), [body])
  return (
    <section class='section' aria-labelledby={id}>
      <h2 id={id}>{texts.title}</h2>
      {body === null
        ? <p class='muted'>{texts.hidden}</p>
        : (
          <>
            {isErased(body) && <Notice tone='off' title={texts.erased.title}><p>{texts.erased.text}</p></Notice>}
            <p class='muted'>{texts.note}</p>
            <CodeBlock code={shown} exact={body} label={texts.label} />
          </>
          )}
    </section>
  )
}

/**
 * The headers of a delivery, and a command that sends it again. Signatures are not stored, and differ at each
 * attempt.
 */
export function RequestSection ({
  webhook,
  delivery: { event_id: eventId, body }
}: {
  webhook: WebhookWithHealth
  delivery: DeliveryWithAttempts
}) {
  const {
    messages: {
      delivery: { request: texts }
    }
  } = useFormat()
  const id = useId()
  const headerNames = Object.keys(webhook.headers ?? {})
  const headers = [
    'content-type: application/json',
    'user-agent: fastify-recruiting-api',
    `webhook-id: ${eventId}`,
    `webhook-timestamp: <${texts.timestamp}>`,
    `webhook-signature: v1,<${texts.signature}>`,
    ...headerNames.map((name) => `${name}: <${texts.hidden}>`)
  ]
  return (
    <section class='section' aria-labelledby={id}>
      <h2 id={id}>{texts.title}</h2>
      <CodeBlock code={`POST ${webhook.target_url}\n${headers.join('\n')}`} label={texts.label} />
      {body !== null && (
        <>
          <p class='muted'>{texts.note}</p>
          <div>
            <Copy
              text={curlCommand({ url: webhook.target_url, eventId, body, headerNames })}
              label={texts.curl}
              caption={texts.curl}
            />
          </div>
        </>
      )}
    </section>
  )
}
