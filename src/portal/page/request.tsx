import { useId } from 'preact/hooks'
import type { DeliveryWithAttempts, WebhookWithHealth } from './api.js'
import { curlCommand } from './curl.js'
import { useFormat } from './hooks.js'
import { CodeBlock, Copy } from './parts/controls.js'

/**
 * The headers of a delivery, and a command that sends it again. Signatures are not stored, and differ at each
 * attempt.
 */
export function RequestSection ({
  webhook,
  delivery: { event_id: eventId, body }
}: {
  webhook: WebhookWithHealth
  delivery: DeliveryWithAttempts
}) {
  const {
    messages: {
      delivery: { request: texts }
    }
  } = useFormat()
  const id = useId()
  const headerNames = Object.keys(webhook.headers ?? {})
  const headers = [
    'content-type: application/json',
    'user-agent: fastify-recruiting-api',
    `webhook-id: ${eventId}`,
    `webhook-timestamp: <${texts.timestamp}>`,
    `webhook-signature: v1,<${texts.signature}>`,
    ...headerNames.map((name) => `${name}: <${texts.hidden}>`)
  ]
  return (
    <section class='section' aria-labelledby={id}>
      <h2 id={id}>{texts.title}</h2>
      <CodeBlock code={`POST ${webhook.target_url}\n${headers.join('\n')}`} label={texts.label} />
      {body !== null && (
        <>
          <p class='muted'>{texts.note}</p>
          <div>
            <Copy
              text={curlCommand({ url: webhook.target_url, eventId, body, headerNames })}
              label={texts.curl}
              caption={texts.curl}
            />
          </div>
        </>
      )}
    </section>
  )
}
