import { useState } from 'preact/hooks'
import { RowActivity } from './activity.js'
import { type InTurn, type Webhook, type WebhookHealth, type WebhookStatus, createTurns } from './api.js'
import { useCan, useFormat, useNow, usePortal, useQuery } from './hooks.js'
import { Icon, Link, Pager } from './parts/controls.js'
import { Empty, Name, Problem, Skeleton, Status, Url } from './parts/feedback.js'
import { Screen } from './shell.js'
import { healthWord } from './text.js'

/** Requests for figures at once: a key's budget is for more important ones. */
const figuresAtOnce = 2

/** The webhooks of the tenant, with their health in words. */
export function EndpointsScreen () {
  const { api } = usePortal()
  const { messages: { shell, endpoints } } = useFormat()
  const [page, setPage] = useState(1)
  const webhooks = useQuery((signal) => api.listWebhooks({ page, per_page: 25 }, signal), [page])
  const [inTurn] = useState(() => createTurns(figuresAtOnce))
  const isEmpty = webhooks.value?.meta.total === 0
  return (
    <Screen title={shell.title} intro={endpoints.intro} actions={isEmpty ? undefined : <AddButton />}>
      {webhooks.failure !== null && (
        <Problem failure={webhooks.failure} onRetry={webhooks.reload} isBusy={webhooks.isLoading} />
      )}
      {webhooks.value === null && webhooks.failure === null && <Skeleton lines={4} />}
      {isEmpty && <NoWebhooks />}
      {webhooks.value !== null && !isEmpty && (
        <>
          <ul class='rows' aria-label={endpoints.list} aria-busy={webhooks.isLoading}>
            {webhooks.value.data.map((webhook) => (
              <EndpointRow key={webhook.id} webhook={webhook} inTurn={inTurn} />
            ))}
          </ul>
          <Pager page={page} pages={webhooks.value.meta.total_pages} onPage={setPage} isBusy={webhooks.isLoading} />
        </>
      )}
    </Screen>
  )
}

function NoWebhooks () {
  const { messages: { endpoints } } = useFormat()
  const isWriter = useCan('write')
  return (
    <Empty title={endpoints.empty.title} action={<AddButton />}>
      {isWriter ? endpoints.empty.text : endpoints.empty.readOnly}
    </Empty>
  )
}

/** A link to the form of a new webhook, if the session may create one and see its secret. */
function AddButton () {
  const { can } = usePortal()
  const { messages: { endpoints } } = useFormat()
  if (!can('write') || !can('secrets')) return null
  return (
    <Link to={{ screen: 'create' }} look='button button-primary'>
      <Icon name='plus' /> <span>{endpoints.add}</span>
    </Link>
  )
}

/** One webhook of the list. Lists have no health, so the row asks for its own. */
function EndpointRow ({ webhook, inTurn }: { webhook: Webhook, inTurn: InTurn }) {
  const { api } = usePortal()
  const { messages: { endpoints }, plural } = useFormat()
  const { value } = useQuery((signal) => api.findWebhook(webhook.id, signal), [webhook.id, webhook.updated_at])
  return (
    <li class='row endpoint-row'>
      <div class='row-main'>
        <h2><Link to={{ screen: 'endpoint', id: webhook.id }} look='row-link'><Name>{webhook.name}</Name></Link></h2>
        <Url>{webhook.target_url}</Url>
        <p class='muted'>{plural(endpoints.events, webhook.event_types.length)}</p>
      </div>
      <Health status={webhook.status} health={value?.data.health ?? null} />
      <RowActivity webhookId={webhook.id} inTurn={inTurn} />
      <Icon name='forward' />
    </li>
  )
}

/** The health of a webhook in a word, and why. */
function Health ({ status, health }: { status: WebhookStatus, health: WebhookHealth | null }) {
  const { messages: { endpoints }, plural } = useFormat()
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
  const { messages: { endpoints: { health: texts } }, text, time } = useFormat()
  const now = useNow(30_000)
  if (status === 'inactive') return texts.inactive
  if (health?.disabled_reason === 'gone') return texts.gone
  if (health?.disabled_reason === 'failing') return texts.failedTooLong
  return health?.failing_since == null ? null : text(texts.since, { time: time(health.failing_since, now) })
}
