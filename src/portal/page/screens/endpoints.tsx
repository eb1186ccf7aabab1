import { useState } from 'preact/hooks'
import { AddButton } from './endpoints/add-button.js'
import { EndpointRow } from './endpoints/endpoint-row.js'
import { Empty } from '../parts/empty.js'
import { Pager } from '../parts/pager.js'
import { Problem } from '../parts/problem.js'
import { Screen } from '../parts/screen.js'
import { Skeleton } from '../parts/skeleton.js'
import { useCan, useFormat, usePortal } from '../state/portal.js'
import { useQuery } from '../state/use-query.js'

/** The webhooks of the tenant, with their health in words. */
export function EndpointsScreen () {
  const { api } = usePortal()
  const { messages: { shell, endpoints } } = useFormat()
  const [page, setPage] = useState(1)
  const webhooks = useQuery((signal) => api.listWebhooks({ page, per_page: 25 }, signal), [page])
  const isEmpty = webhooks.value?.meta.total === 0
  return (
    <Screen title={shell.title} intro={endpoints.intro} actions={isEmpty ? undefined : <AddButton />}>
      {webhooks.failure !== null && <Problem failure={webhooks.failure} onRetry={webhooks.reload} isBusy={webhooks.isLoading} />}
      {webhooks.value === null && webhooks.failure === null && <Skeleton lines={4} />}
      {isEmpty && <NoWebhooks />}
      {webhooks.value !== null && !isEmpty && (
        <>
          <ul class='rows' aria-label={endpoints.list} aria-busy={webhooks.isLoading}>
            {webhooks.value.data.map((webhook) => <EndpointRow key={webhook.id} webhook={webhook} />)}
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
  return <Empty title={endpoints.empty.title} action={<AddButton />}>{isWriter ? endpoints.empty.text : endpoints.empty.readOnly}</Empty>
}
