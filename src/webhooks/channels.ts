import { channel } from 'node:diagnostics_channel'
import type { AttemptError, AttemptResult, ClaimedDelivery, HealthNotice } from '../ports/index.js'

/** On `fastify-recruiting-api:emit`: an event was recorded. */
export interface EmitMessage {
  tenantSlug: string
  eventId: string
  eventType: string
  /** To how many active webhooks it goes. */
  deliveries: number
}

/** On `fastify-recruiting-api:attempt`: an attempt has ended. */
export interface AttemptMessage {
  tenantSlug: string
  webhookId: number
  deliveryId: number
  eventId: string
  eventType: string
  /** 1 for the first. */
  attempt: number
  /** From the lookup of the name to the end of the answer. */
  durationMs: number
  /** `null` if no answer came. */
  responseStatus: number | null
  /** `null` if it succeeded. */
  error: AttemptError | null
}

/** On `fastify-recruiting-api:retry`: the attempt failed, and another will be made. */
export interface RetryMessage extends AttemptMessage {
  /** From now to that one. */
  retryInMs: number
}

/** On `fastify-recruiting-api:pause`: the attempt also pauses the webhook. */
export interface PauseMessage extends AttemptMessage {
  /** For so long from now. */
  pauseMs: number
}

/** On `fastify-recruiting-api:give-up`: the attempt failed, and no other will be made. */
export type GiveUpMessage = AttemptMessage

/** On `fastify-recruiting-api:disable`: the service has disabled a webhook. */
export type DisableMessage = HealthNotice

const channels = {
  emit: channel('fastify-recruiting-api:emit'),
  attempt: channel('fastify-recruiting-api:attempt'),
  retry: channel('fastify-recruiting-api:retry'),
  pause: channel('fastify-recruiting-api:pause'),
  giveUp: channel('fastify-recruiting-api:give-up'),
  disable: channel('fastify-recruiting-api:disable')
}

/** Tells of an event that was recorded. */
export function publishEmit (message: EmitMessage): void {
  channels.emit.publish(message)
}

/** Tells of a webhook that the service has disabled. */
export function publishDisable (message: DisableMessage): void {
  channels.disable.publish(message)
}

/** Tells of an attempt and of what follows from it. */
export function publishAttempt (delivery: ClaimedDelivery, result: AttemptResult): void {
  const { tenantSlug, webhookId, deliveryId, eventId, eventType, attemptCount } = delivery
  const { durationMs, responseStatus, error } = result
  const message: AttemptMessage = {
    tenantSlug, webhookId, deliveryId, eventId, eventType, attempt: attemptCount + 1, durationMs, responseStatus, error
  }
  channels.attempt.publish(message)
  if (result.outcome === 'failed') channels.giveUp.publish(message)
  if (result.outcome !== 'retry') return
  channels.retry.publish({ ...message, retryInMs: result.retryInMs })
  if (result.pauseMs > 0) channels.pause.publish({ ...message, pauseMs: result.pauseMs })
}
