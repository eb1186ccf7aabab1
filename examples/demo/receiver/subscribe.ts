import { defaultEvents } from 'fastify-recruiting-api'

export interface Subscription {
  apiUrl: string
  tenantSlug: string
  key: string
  targetUrl: string
}

/** What the API answers with, as far as it is needed here. The secret is shown this once. */
export interface Subscribed {
  id: number
  secret: string
}

/** What a tenant does to hear of everything: one request. */
export async function subscribe ({ apiUrl, tenantSlug, key, targetUrl }: Subscription): Promise<Subscribed> {
  const answer = await fetch(`${apiUrl}/${tenantSlug}/webhooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Demo receiver', target_url: targetUrl, event_types: Object.keys(defaultEvents) })
  })
  if (answer.status !== 201) throw new Error(`the webhook was not created: ${answer.status} ${await answer.text()}`)
  const { data } = await answer.json() as { data: Subscribed }
  return data
}
