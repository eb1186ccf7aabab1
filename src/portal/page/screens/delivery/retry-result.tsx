import { useEffect } from 'preact/hooks'
import type { Delivery } from '../../api/types.js'
import { answerWords, toneOf } from '../../delivery-words.js'
import { Link } from '../../parts/link.js'
import { Notice } from '../../parts/notice.js'
import { usePortal } from '../../state/portal.js'
import { useEvery } from '../../state/time.js'
import { useQuery } from '../../state/use-query.js'

const pollMs = 1000

/** Follows a retry until its attempt has ended. */
export function RetryResult ({ webhookId, from, retried }: { webhookId: number, from: number, retried: Delivery }) {
  const { api, announce, format } = usePortal()
  const { messages: { delivery: { retry: texts }, log } } = format
  const { value, reload } = useQuery((signal) => api.findDelivery(webhookId, retried.id, signal), [])
  const current = value?.data ?? retried
  const isOver = current.status !== 'pending' || current.attempt_count > retried.attempt_count
  useEvery(isOver ? null : pollMs, reload)
  const words = [log.status[current.status], isOver ? answerWords(current, format) : null].filter((part) => part !== null).join(': ')
  useEffect(() => { if (isOver) announce(words) }, [isOver])
  return (
    <Notice tone={isOver ? toneOf(current.status) : 'waiting'} title={words}>
      <p>{retried.id === from ? texts.nowSent : texts.againSent}</p>
      {retried.id !== from && <p><Link to={{ screen: 'delivery', id: webhookId, deliveryId: retried.id }}>{texts.open}</Link></p>}
    </Notice>
  )
}
