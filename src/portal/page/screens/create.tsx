import { useState } from 'preact/hooks'
import type { CreatedWebhook } from '../api/types.js'
import { Screen } from '../parts/screen.js'
import { useFormat, usePortal } from '../state/portal.js'
import { WebhookForm } from './form/webhook-form.js'
import { SecretScreen } from './secret.js'

/** Creates a webhook, then shows its secret once. */
export function CreateScreen () {
  const { api } = usePortal()
  const { messages: { shell, form } } = useFormat()
  const [created, setCreated] = useState<CreatedWebhook | null>(null)
  if (created !== null) return <SecretScreen webhook={created} />
  return (
    <Screen title={form.create.title} intro={form.create.intro} back={{ to: { screen: 'endpoints' }, label: shell.title }}>
      <WebhookForm
        initial={{ name: '', targetUrl: '', eventTypes: [] }}
        submitLabel={form.create.submit}
        save={({ name, targetUrl, eventTypes }) => api.createWebhook({ name: name.trim(), target_url: targetUrl.trim(), event_types: [...eventTypes], status: 'active' })}
        onSaved={({ data }) => setCreated(data)}
        cancelTo={{ screen: 'endpoints' }}
      />
    </Screen>
  )
}
