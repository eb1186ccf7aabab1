import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { AttemptMessage, DisableMessage, RetryMessage } from 'fastify-recruiting-api'
import type { Feed } from './feed.js'

/**
 * Publishes attempts and disabled webhooks from the plugin's diagnostics channels, as a metrics library would read them.
 * Returns a function that stops it.
 */
export function watchDeliveries (feed: Feed): () => void {
  const listeners: Array<[name: string, listener: (message: unknown) => void]> = [
    ['attempt', (message) => {
      const attempt = message as AttemptMessage
      if (attempt.error === null) feed.publishAttempt({ ...attempt, outcome: 'delivered', retryInMs: 0 })
    }],
    ['retry', (message) => feed.publishAttempt({ ...message as RetryMessage, outcome: 'retry' })],
    ['give-up', (message) => feed.publishAttempt({ ...message as AttemptMessage, outcome: 'failed', retryInMs: 0 })],
    ['disable', (message) => {
      const { tenantSlug, webhookId, lastResponseStatus } = message as DisableMessage
      feed.publish({ kind: 'disable', tenantSlug, webhookId, lastResponseStatus })
    }]
  ]
  for (const [name, listener] of listeners) subscribe(`fastify-recruiting-api:${name}`, listener)
  return () => { for (const [name, listener] of listeners) unsubscribe(`fastify-recruiting-api:${name}`, listener) }
}
