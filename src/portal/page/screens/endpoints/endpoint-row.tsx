import type { Webhook } from '../../api/types.js'
import { Icon } from '../../parts/icon.js'
import { Link } from '../../parts/link.js'
import { Name, Url } from '../../parts/name.js'
import { useFormat, usePortal } from '../../state/portal.js'
import { useQuery } from '../../state/use-query.js'
import { Health } from './health.js'

/** One webhook of the list. Lists have no health, so the row asks for its own. */
export function EndpointRow ({ webhook }: { webhook: Webhook }) {
  const { api } = usePortal()
  const { messages: { endpoints }, plural } = useFormat()
  const { value } = useQuery((signal) => api.findWebhook(webhook.id, signal), [webhook.id, webhook.updated_at])
  return (
    <li class='row'>
      <div class='row-main'>
        <h2><Link to={{ screen: 'endpoint', id: webhook.id }} look='row-link'><Name>{webhook.name}</Name></Link></h2>
        <Url>{webhook.target_url}</Url>
        <p class='muted'>{plural(endpoints.events, webhook.event_types.length)}</p>
      </div>
      <Health status={webhook.status} health={value?.data.health ?? null} />
      <Icon name='forward' />
    </li>
  )
}
