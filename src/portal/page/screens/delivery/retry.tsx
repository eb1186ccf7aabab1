import { useState } from 'preact/hooks'
import type { Delivery, DeliveryWithAttempts, WebhookWithHealth } from '../../api/types.js'
import { Button } from '../../parts/button.js'
import { Link } from '../../parts/link.js'
import { Notice } from '../../parts/notice.js'
import { Problem } from '../../parts/problem.js'
import { useFormat, usePortal } from '../../state/portal.js'
import { useAction } from '../../state/use-action.js'
import { RetryResult } from './retry-result.js'

interface RetryProps {
  webhookId: number
  /** `null` while it loads. */
  webhook: WebhookWithHealth | null
  delivery: DeliveryWithAttempts
  onRetried: () => void
}

/** Sends a delivery once more, and shows what comes of it. */
export function Retry ({ webhookId, webhook, delivery, onRetried }: RetryProps) {
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
  // A vendor may leave out why, and there is no other reason.
  const isInactive = retry.failure?.code === 'bad_request' || (webhook !== null && webhook.status !== 'active')
  return (
    <div class='delivery-retry'>
      {!isInactive && <div><Button kind={delivery.status === 'delivered' ? 'plain' : 'primary'} icon='replay' onClick={send} isBusy={retry.isBusy}>{isPending ? texts.now : texts.again}</Button></div>}
      {isInactive && <InactiveNotice webhookId={webhookId} />}
      {retry.failure !== null && !isInactive && <Problem failure={retry.failure} />}
      {retried !== null && <RetryResult key={retried.id} webhookId={webhookId} from={delivery.id} retried={retried} />}
    </div>
  )
}

function InactiveNotice ({ webhookId }: { webhookId: number }) {
  const { messages: { delivery: { retry: texts } } } = useFormat()
  return (
    <Notice tone='off' title={texts.inactiveTitle}>
      <p>{texts.inactiveText}</p>
      <p><Link to={{ screen: 'endpoint', id: webhookId }}>{texts.toWebhook}</Link></p>
    </Notice>
  )
}
