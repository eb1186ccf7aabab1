// Mails the contact of a webhook that keeps failing or was disabled, through Postmark. Other services have a similar
// call. Other webhooks of the tenant can subscribe to `webhook.failing` and `webhook.disabled`.
//
// POSTMARK_TOKEN=… MAIL_FROM=hooks@ats.example.com NODE_ENV=development tsx examples/23-failing-webhooks.ts
// curl http://127.0.0.1:3000/api/v1/public/acme/webhooks -H 'Authorization: Bearer acme-secret-key' --json \
//   '{"name":"CRM","target_url":"http://127.0.0.1:4000/","event_types":["application.created"],"contact":"ops@example.com"}'
// curl -X POST http://127.0.0.1:3000/apply   # an endpoint that returns 410 is disabled now, other ones after five days

import { setTimeout } from 'node:timers/promises'
import Fastify from 'fastify'
import recruitingApi, { attemptDetails, defaultEvents, webhookEvents, type HealthNotice } from 'fastify-recruiting-api'
import { memoryKeyLookup, memoryStorage } from 'fastify-recruiting-api/memory'

const { POSTMARK_TOKEN = '', MAIL_FROM = '', MAIL_URL = 'https://api.postmarkapp.com/email' } = process.env

const app = Fastify({ logger: true })
await app.register(recruitingApi, {
  storage: memoryStorage(),
  keyLookup: memoryKeyLookup([
    { key: 'acme-secret-key', tenantSlug: 'acme', scopes: ['webhooks:read', 'webhooks:write'] }
  ]),
  events: { ...defaultEvents, ...webhookEvents },
  delivery: process.env.NODE_ENV === 'development' ? { allowHttp: true, allowNetworks: ['127.0.0.0/8'] } : {}
})

const news = {
  failing: 'keeps failing and will be disabled',
  disabled: 'was disabled because it kept failing',
  gone: 'was disabled because it asked for it or returned 410'
}

/** Retries for some minutes, because this process may be offline. */
async function mail (to: string, subject: string, text: string): Promise<void> {
  for (let waitMs = 1000; ; waitMs *= 4) {
    try {
      const response = await fetch(MAIL_URL, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-postmark-server-token': POSTMARK_TOKEN },
        body: JSON.stringify({ From: MAIL_FROM, To: to, Subject: subject, TextBody: text }),
        signal: AbortSignal.timeout(10_000)
      })
      if (!response.ok) throw new Error(`the mail service returned ${response.status}`)
      return
    } catch (error) {
      if (waitMs > 300_000) throw error
      await setTimeout(waitMs)
    }
  }
}

function mailContact (notice: HealthNotice): void {
  const { kind, tenantSlug, webhookId, contact, failingSince, lastError, lastDetail, lastResponseStatus } = notice
  if (contact === null) return
  const cause = lastDetail === null ? lastError : attemptDetails[lastDetail]
  const reason = lastResponseStatus === null ? cause : `status ${lastResponseStatus}`
  const text = `Webhook ${webhookId} of ${tenantSlug} ${news[kind]}. It has been failing since ${failingSince}: ${reason}.`
  mail(contact, `Webhook ${webhookId} ${news[kind]}`, text).then(
    () => app.log.info({ webhook_id: webhookId }, 'mailed the contact'),
    (err: unknown) => app.log.error({ err, webhook_id: webhookId }, 'could not mail the contact')
  )
}

app.recruiting.on('webhookFailing', mailContact)
app.recruiting.on('webhookDisabled', mailContact)

app.post('/apply', () => app.recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: { id: 1 } }))

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => app.close())

await app.listen({ port: Number(process.env.PORT ?? 3000) })
