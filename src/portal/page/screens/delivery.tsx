import type { ComponentChildren } from 'preact'
import { CopyFact, Fact } from './delivery/facts.js'
import { Attempts } from './delivery/attempts.js'
import { Body } from './delivery/body.js'
import { Retry } from './delivery/retry.js'
import { toneOf } from '../delivery-words.js'
import type { DeliveryWithAttempts } from '../api/types.js'
import { Instant } from '../parts/instant.js'
import { Name } from '../parts/name.js'
import { Problem } from '../parts/problem.js'
import { Screen } from '../parts/screen.js'
import { Skeleton } from '../parts/skeleton.js'
import { Status } from '../parts/status.js'
import { useCan, useFormat, usePortal } from '../state/portal.js'
import { useEvery } from '../state/time.js'
import { useQuery } from '../state/use-query.js'

const pollMs = 2000

/** One delivery: what was sent, each attempt, and what to do about it. */
export function DeliveryScreen ({ id, deliveryId }: { id: number, deliveryId: number }) {
  const { api } = usePortal()
  const { messages: { delivery: texts, shell } } = useFormat()
  const canReplay = useCan('replay')
  const query = useQuery((signal) => api.findDelivery(id, deliveryId, signal), [id, deliveryId])
  const webhook = useQuery((signal) => api.findWebhook(id, signal), [id])
  const delivery = query.value?.data ?? null
  useEvery(delivery?.status === 'pending' ? pollMs : null, query.reload)
  return (
    <Screen title={<Name>{delivery?.event_type ?? shell.loading}</Name>} back={{ to: { screen: 'endpoint', id }, label: webhook.value?.data.name ?? texts.back }}>
      {query.failure !== null && <Problem failure={query.failure} onRetry={query.reload} isBusy={query.isLoading} />}
      {delivery === null && query.failure === null && <Skeleton lines={4} />}
      {delivery !== null && (
        <>
          <Summary delivery={delivery}>
            {canReplay && <Retry webhook={webhook.value?.data ?? null} webhookId={id} delivery={delivery} onRetried={query.reload} />}
          </Summary>
          <Attempts delivery={delivery} />
          <Body body={delivery.body} />
        </>
      )}
    </Screen>
  )
}

function Summary ({ delivery, children }: { delivery: DeliveryWithAttempts, children: ComponentChildren }) {
  const { messages: { delivery: texts, log } } = useFormat()
  const { status, event_id: eventId, event_type: eventType, created_at: createdAt, delivered_at: deliveredAt } = delivery
  return (
    <section class='card delivery-summary'>
      <p class='delivery-outcome'><Status tone={toneOf(status)}>{log.status[status]}</Status> <Outcome delivery={delivery} /></p>
      <dl class='facts facts-wide'>
        <CopyFact label={texts.eventId} text={eventId} />
        <CopyFact label={texts.eventType} text={eventType} />
        <Fact label={texts.created}><Instant at={createdAt} /></Fact>
        {deliveredAt !== null && <Fact label={texts.deliveredAt}><Instant at={deliveredAt} /></Fact>}
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
