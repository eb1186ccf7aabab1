import type { Webhook, WebhookWithHealth } from '../api/types.js'
import { Problem } from '../parts/problem.js'
import { Screen } from '../parts/screen.js'
import { Skeleton } from '../parts/skeleton.js'
import { useFormat, usePortal } from '../state/portal.js'
import { useQuery } from '../state/use-query.js'
import { changesOf } from './form/draft.js'
import { WebhookForm } from './form/webhook-form.js'

/** Changes the name, the address and the events of a webhook. */
export function EditScreen ({ id }: { id: number }) {
  const { api } = usePortal()
  const { messages: { form } } = useFormat()
  const webhook = useQuery((signal) => api.findWebhook(id, signal), [id])
  return (
    <Screen title={form.edit.title} back={{ to: { screen: 'endpoint', id }, label: webhook.value?.data.name ?? '…' }}>
      {webhook.value === null && webhook.failure === null && <Skeleton lines={4} />}
      {webhook.value === null && webhook.failure !== null && <Problem failure={webhook.failure} onRetry={webhook.reload} isBusy={webhook.isLoading} />}
      {webhook.value !== null && <EditForm webhook={webhook.value.data} />}
    </Screen>
  )
}

type Saved = { data: Webhook } | null

function EditForm ({ webhook }: { webhook: WebhookWithHealth }) {
  const { api, leave, announce } = usePortal()
  const { messages: { form }, text } = useFormat()
  const { id } = webhook
  return (
    <WebhookForm<Saved>
      initial={{ name: webhook.name, targetUrl: webhook.target_url, eventTypes: webhook.event_types }}
      submitLabel={form.edit.submit}
      save={async (draft) => {
        const changes = changesOf(draft, webhook)
        return Object.keys(changes).length === 0 ? { value: null, failure: null } : await api.updateWebhook(id, changes)
      }}
      onSaved={(_value, { name }) => {
        announce(text(form.edit.saved, { name: name.trim() }))
        leave({ screen: 'endpoint', id })
      }}
      cancelTo={{ screen: 'endpoint', id }}
    />
  )
}
