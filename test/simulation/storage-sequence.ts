import type {
  AttemptResult, ClaimedDelivery, Delivery, EventStorage, HealthRule, NewEvent, Webhook, WebhookChanges
} from '../../src/core/ports/index.js'
import { createRandom, type Random } from './random.js'

const types = ['application.created', 'job.created']
const rule: HealthRule = { failingForSeconds: 0, failedDeliveries: 3, warnAfterSeconds: 0 }
const hourMs = 3_600_000
const weights = {
  record: 30,
  create: 8,
  update: 8,
  delete: 2,
  rotate: 3,
  work: 14,
  replay: 5,
  retry: 5,
  erase: 3,
  log: 6,
  find: 4,
  subject: 3,
  feed: 4,
  figures: 3,
  rename: 1,
  remove: 1,
  suspend: 2,
  resume: 2
}

/**
 * Makes calls that depend only on the seed, one at a time, and returns the storage's answers. Ids, which differ between
 * storages, are replaced by their order of appearance. Removes all its data at the end.
 */
export async function readAnswers (storage: EventStorage, seed: number, count: number): Promise<string[]> {
  const sequence = new Sequence(storage, seed)
  const answers: string[] = []
  for (let index = 0; index < count; index++) {
    const name = sequence.random.weighted(weights)
    answers.push(`${index} ${name} ${JSON.stringify(await sequence.call(name))}`)
  }
  await sequence.end()
  return answers
}

class Sequence {
  readonly random: Random
  readonly #storage: EventStorage
  readonly #prefix: string
  #tenants: string[]
  #webhooks: Array<{ tenant: string, id: number }> = []
  #deliveries: Array<{ tenant: string, webhookId: number, id: number }> = []
  readonly #webhookNames = new Map<number, string>()
  readonly #deliveryNames = new Map<number, string>()
  #eventCount = 0
  #tenantCount = 0

  constructor (storage: EventStorage, seed: number) {
    this.random = createRandom(seed)
    this.#storage = storage
    this.#prefix = `s${seed}`
    this.#tenants = [this.#newTenant(), this.#newTenant()]
  }

  #newTenant (): string {
    return `${this.#prefix}-${++this.#tenantCount}`
  }

  async call (name: keyof typeof weights): Promise<unknown> {
    const { random } = this
    const { webhooks, deliveries, feed } = this.#storage
    const tenant = random.pick(this.#tenants)
    const webhook = this.#webhooks.length === 0 ? { tenant, id: 1 } : random.pick(this.#webhooks)
    switch (name) {
      case 'record': {
        const recorded = await deliveries.record(tenant, this.#newEvent(tenant))
        return { ...recorded, id: recorded.id }
      }
      case 'create': {
        const id = await webhooks.nextId(tenant)
        this.#webhookNames.set(id, `webhook${this.#webhookNames.size + 1}`)
        const created = await webhooks.create(tenant, {
          id,
          tenantSlug: tenant,
          name: `Webhook ${random.integer(1, 9)}`,
          target_url: `https://example.com/${random.integer(1, 3)}`,
          status: random.pick(['active', 'active', 'active', 'inactive']),
          event_types: random.pick([types, ['job.created']]),
          secret: 'secret 1',
          filters: random.pick([null, null, { 'data.job_id': [1, 2] }])
        }, { maxPerTenant: random.pick([50, 50, 2]) })
        if (created !== null) this.#webhooks.push({ tenant, id })
        return this.#show(created)
      }
      case 'update': {
        const changes = random.pick<WebhookChanges>([
          { status: 'active' }, { status: 'inactive' }, { name: 'Renamed' }, { target_url: 'https://example.com/4' },
          { filters: null }, { filters: { 'data.job_id': [2] } }, { event_types: types }
        ])
        return this.#show(await webhooks.update(webhook.tenant, webhook.id, changes))
      }
      case 'delete': return await webhooks.delete(webhook.tenant, webhook.id)
      case 'rotate': {
        const rotation = { secret: `secret ${random.integer(2, 9)}`, gracePeriodSeconds: random.pick([0, 3600]) }
        const rotated = await webhooks.rotateSecret(webhook.tenant, webhook.id, rotation)
        return [this.#show(rotated), await webhooks.findSecrets(webhook.tenant, webhook.id)]
      }
      case 'work': return await this.#work()
      case 'replay': {
        const selection = {
          include: random.pick(['all', 'undelivered'] as const),
          eventTypes: null,
          eventIds: null,
          since: null,
          until: null,
          limit: random.pick([1, 1000])
        }
        const counted = await deliveries.countReplay(webhook.tenant, webhook.id, selection)
        return [counted, await deliveries.replay(webhook.tenant, webhook.id, selection)]
      }
      case 'retry': {
        if (this.#deliveries.length === 0) return null
        const delivery = random.pick(this.#deliveries)
        return this.#show(await deliveries.retry(delivery.tenant, delivery.webhookId, delivery.id))
      }
      case 'erase': return (await deliveries.erase(tenant, `candidate:${random.integer(1, 3)}`)).events
      case 'log': {
        const filter = random.pick([
          {},
          { status: 'pending' as const },
          { status: 'failed' as const },
          { eventType: 'job.created' }
        ])
        const direction = random.pick(['asc', 'desc'] as const)
        const query = { filter, sort: [{ field: 'id' as const, direction }], offset: random.pick([0, 1]), limit: 20 }
        const listed = await deliveries.list(webhook.tenant, webhook.id, query)
        return [await deliveries.count(webhook.tenant, webhook.id, filter), listed.map((row) => this.#show(row))]
      }
      case 'find': {
        if (this.#deliveries.length === 0) return null
        const { tenant: owner, webhookId, id } = random.pick(this.#deliveries)
        const found = await deliveries.find(owner, webhookId, id)
        return (
          found && {
            ...(this.#show(found) as object), body: found.body, attempts: found.attempts.map(({ error }) => error)
          }
        )
      }
      case 'subject': {
        const found = await deliveries.listSubjectEvents(tenant, `candidate:${random.integer(1, 3)}`, {
          after: 0, limit: 50
        })
        return found.map(({ eventId, isErased, deliveries: sent }) => ({
          eventId,
          isErased,
          sent: sent.map(({ webhookName, status, attempts }) => `${webhookName} ${status} ${attempts.length}`).sort()
        }))
      }
      case 'feed': {
        const page = await feed?.list(tenant, { after: null, limit: random.pick([2, 100]), eventTypes: null })
        return page && { bodies: page.bodies, hasMore: page.hasMore }
      }
      case 'figures': {
        const { pending, failing, delivered, failed } = await deliveries.tenantStats(tenant)
        const health = await webhooks.findHealth(webhook.tenant, webhook.id)
        return {
          pending,
          failing,
          delivered,
          failed,
          failedDeliveries: health?.failed_deliveries,
          reason: health?.disabled_reason
        }
      }
      case 'suspend': return typeof await webhooks.suspendTenant(tenant)
      case 'resume': {
        return typeof await webhooks.resumeTenant(tenant, { pending: random.pick(['deliver', 'skip'] as const) })
      }
      case 'rename': {
        const to = this.#newTenant()
        const count = await webhooks.renameTenant(
          { id: tenant, slug: tenant },
          { id: to, slug: to },
          { reseal: (secret) => secret }
        )
        this.#tenants = this.#tenants.map((one) => one === tenant ? to : one)
        for (const one of [...this.#webhooks, ...this.#deliveries]) if (one.tenant === tenant) one.tenant = to
        return count
      }
      case 'remove': {
        await this.#removeTenant(tenant)
        this.#tenants = this.#tenants.map((one) => one === tenant ? this.#newTenant() : one)
        return null
      }
    }
  }

  #newEvent (tenant: string): NewEvent {
    const { random } = this
    const id = `${this.#prefix}-event${++this.#eventCount}`
    const subject = random.pick([null, 'candidate:1', 'candidate:2', 'candidate:3'])
    const key = random.chance(0.2) ? `key${random.integer(1, 3)}` : null
    return {
      id,
      type: random.pick(types),
      body: JSON.stringify({ id, tenant_slug: tenant, data: { job_id: random.integer(1, 3) } }),
      subject,
      tombstone: subject === null ? null : JSON.stringify({ id, data: null, erased: true }),
      idempotencyKey: key,
      fingerprint: key ?? ''
    }
  }

  /** Claims all due deliveries, and records a result for each. */
  async #work (): Promise<unknown> {
    const { deliveries } = this.#storage
    const claimed: ClaimedDelivery[] = []
    for (;;) {
      const more = await deliveries.claimDue({ limit: 100, perEndpoint: 1000, leaseMs: hourMs })
      if (more.length === 0) break
      claimed.push(...more)
    }
    // The order of tenants depends on earlier claims, and an event's deliveries can get their ids in any order.
    claimed.sort((one, other) => one.webhookId - other.webhookId || one.deliveryId - other.deliveryId)
    const shown = claimed.map((one) => {
      this.#deliveries.push({ tenant: one.tenantId, webhookId: one.webhookId, id: one.deliveryId })
      const { eventId, eventType, body, targetUrl, secrets, attemptCount, isFailing } = one
      const webhook = this.#webhookNames.get(one.webhookId)
      return [
        this.#nameDelivery(one.deliveryId),
        webhook,
        eventId,
        eventType,
        body,
        targetUrl,
        secrets,
        attemptCount,
        isFailing
      ]
    })
    const results = claimed.map((one) => this.#newResult(one))
    if (this.random.chance(0.1)) await deliveries.release(claimed)
    else await deliveries.recordAttempts(results, rule)
    return shown
  }

  #newResult ({ webhookId, deliveryId, fence, targetUrl }: ClaimedDelivery): AttemptResult {
    const { random } = this
    const attempt = { webhookId, deliveryId, fence, targetUrl, durationMs: 5, responseExcerpt: null }
    const outcome = random.weighted({ delivered: 6, retryNow: 3, retryLater: 1, failed: 3, gone: 0.3, postponed: 1 })
    switch (outcome) {
      case 'delivered': return { ...attempt, responseStatus: 200, error: null, outcome, isGone: random.chance(0.05) }
      case 'retryNow':
      case 'retryLater':
        return {
          ...attempt,
          responseStatus: 500,
          error: 'http_status',
          outcome: 'retry',
          retryInMs: outcome === 'retryNow' ? 0 : 100 * hourMs,
          pauseMs: random.chance(0.1) ? hourMs : 0
        }
      case 'failed': return { ...attempt, responseStatus: null, error: 'timeout', outcome, isGone: false }
      case 'postponed': {
        return { ...attempt, responseStatus: null, error: 'connection', outcome, retryInMs: random.chance(0.5) ? 0 : hourMs }
      }
      case 'gone': return { ...attempt, responseStatus: 410, error: 'http_status', outcome: 'failed', isGone: true }
    }
  }

  #nameDelivery (id: number): string {
    const name = this.#deliveryNames.get(id) ?? `delivery${this.#deliveryNames.size + 1}`
    this.#deliveryNames.set(id, name)
    return name
  }

  /** Shows the fields that are the same in every storage. */
  #show (row: Webhook | Delivery | null): unknown {
    if (row === null) return null
    if ('target_url' in row) {
      const { id, name, status, target_url: url, event_types: eventTypes, filters } = row
      return [this.#webhookNames.get(id), name, status, url, eventTypes, filters]
    }
    const { id, event_id: eventId, status, attempt_count: attempts, response_status: responseStatus, error } = row
    return [this.#nameDelivery(id), eventId, status, attempts, responseStatus, error, row.next_attempt_at !== null]
  }

  async #removeTenant (tenant: string): Promise<void> {
    while (await this.#storage.webhooks.removeTenant(tenant, { limit: 1000 }) > 0);
  }

  async end (): Promise<void> {
    for (const tenant of this.#tenants) await this.#removeTenant(tenant)
  }
}
