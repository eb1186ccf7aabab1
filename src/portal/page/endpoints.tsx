import { useState } from 'preact/hooks'
import { RowActivity } from './activity.js'
import { type InTurn, type Webhook, type WebhookHealth, type WebhookStatus, createTurns } from './api.js'
import { useNow, usePagedQuery, usePortal, useQuery } from './hooks.js'
import { Icon, Link } from './parts/controls.js'
import { Name, Status, Url } from './parts/feedback.js'
import { AddLink, ListScreen } from './shell.js'
import { healthWord } from './text.js'

/** Requests for figures at once: a key's budget is for more important ones. */
const figuresAtOnce = 2

/** The webhooks of the tenant, with their health in words. */
export function EndpointsScreen () {
  const { api, can, messages: { shell, endpoints: { intro, list, empty, add } } } = usePortal()
  const webhooks = usePagedQuery(api.webhooks.list)
  const [inTurn] = useState(() => createTurns(figuresAtOnce))
  // Only who sees the secret of a new webhook can use it.
  const isCreator = can('write') && can('secrets')
  return (
    <ListScreen
      title={shell.title}
      intro={intro}
      label={list}
      list={webhooks}
      empty={{ title: empty.title, text: can('write') ? empty.text : empty.readOnly }}
      add={isCreator && <AddLink to={{ screen: 'create' }}>{add}</AddLink>}
    >
      {(webhook) => <EndpointRow key={webhook.id} webhook={webhook} inTurn={inTurn} />}
    </ListScreen>
  )
}

/** One webhook of the list. Lists have no health, so the row asks for its own. */
function EndpointRow ({ webhook, inTurn }: { webhook: Webhook, inTurn: InTurn }) {
  const { api, messages: { endpoints }, plural } = usePortal()
  const { value } = useQuery((signal) => api.webhooks.find(webhook.id, signal), [webhook.id, webhook.updated_at])
  return (
    <li class='row endpoint-row'>
      <div class='row-main'>
        <h2><Link to={{ screen: 'endpoint', id: webhook.id }} look='row-link'><Name>{webhook.name}</Name></Link></h2>
        <Url>{webhook.target_url}</Url>
        <p class='muted'>{plural(endpoints.events, webhook.event_types.length)}</p>
      </div>
      <Health status={webhook.status} health={value?.health ?? null} />
      <RowActivity webhookId={webhook.id} inTurn={inTurn} />
      <Icon name='forward' />
    </li>
  )
}

/** The health of a webhook in a word, and why. */
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
  const { messages: { endpoints: { health: texts } }, text, time } = usePortal()
  const now = useNow(30_000)
  if (status === 'inactive') return texts.inactive
  if (health?.disabled_reason === 'gone') return texts.gone
  if (health?.disabled_reason === 'failing') return texts.failedTooLong
  return health?.failing_since == null ? null : text(texts.since, { time: time(health.failing_since, now) })
}
