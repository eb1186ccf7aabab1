import type { ReplayResult } from '../../api/types.js'
import { Notice } from '../../parts/notice.js'
import { Progress } from '../../parts/progress.js'
import { useFormat, usePortal } from '../../state/portal.js'
import { useEvery } from '../../state/time.js'
import { useQuery } from '../../state/use-query.js'

const pollMs = 1000

/** Counts down the deliveries that a replay queued. Others of the webhook count, too: the API tells no difference. */
export function ReplayProgress ({ webhookId, result: { queued, truncated, include } }: { webhookId: number, result: ReplayResult }) {
  const { api } = usePortal()
  const { messages: { replay: texts }, plural } = useFormat()
  const { value, reload } = useQuery((signal) => api.listDeliveries(webhookId, { 'filter[status]': 'pending', per_page: 1 }, signal), [])
  const left = value?.meta.total ?? queued
  useEvery(left === 0 ? null : pollMs, reload)
  const max = Math.max(queued, left)
  return (
    <>
      <Notice tone='good' title={plural(texts.queued, queued)}>
        {truncated && <p>{include === 'all' ? texts.againAll : texts.againUndelivered}</p>}
      </Notice>
      <Progress label={left === 0 ? texts.done : plural(texts.left, left)} value={max - left} max={max} />
    </>
  )
}
