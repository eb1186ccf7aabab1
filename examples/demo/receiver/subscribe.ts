import { defaultEvents } from 'fastify-recruiting-api'

export interface Subscription {
  apiUrl: string
  tenantSlug: string
  key: string
  targetUrl: string
}

/** The used fields of the response. Only this response contains the secret. */
export interface Subscribed {
  id: number
  secret: string
}

/** Creates a webhook for all events with one request, like a customer. */
export async function subscribe ({ apiUrl, tenantSlug, key, targetUrl }: Subscription): Promise<Subscribed> {
  const answer = await fetch(`${apiUrl}/${tenantSlug}/webhooks`, {
    method: 'POST',
    // Without keep-alive: after a reset, a kept connection would belong to the closed server.
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ name: 'Demo receiver', target_url: targetUrl, event_types: Object.keys(defaultEvents) })
  })
  if (answer.status !== 201) throw new Error(`the webhook was not created: ${answer.status} ${await answer.text()}`)
  const { data } = await answer.json() as { data: Subscribed }
  return data
}
