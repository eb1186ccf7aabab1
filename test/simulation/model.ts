import type {
  AdoptOptions,
  AttemptResult,
  ClaimOptions,
  ClaimedDelivery,
  DeliveryStatus,
  EventFilters,
  HealthEventType,
  HealthRule,
  Lease,
  NewEvent,
  NewSubscription,
  NewWebhook,
  RecordedEvent,
  ReplayResult,
  ReplaySelection,
  SecretRotation,
  StoredSubscription,
  Tenant,
  WebhookChanges,
  WebhookStatus
} from '../../src/core/ports/index.js'
import { isSigned, type Sent } from './network.js'
import { type Machine, Violation } from './world.js'

export interface Event {
  id: string
  tenant: string
  type: string
  body: string
  tombstone: string | null
  subject: string | null
  key: string | null
  recordedAt: number
  /** Its number in the feed of all tenants. */
  seq: number
}

export interface Webhook {
  id: number
  tenant: string
  status: WebhookStatus
  url: string
  types: readonly string[]
  filters: EventFilters | null
  secret: string
  previous: { secret: string, until: number } | null
  isDeleted: boolean
  failingSince: number | null
  failedDeliveries: number
  isWarned: boolean
  pausedUntil: number
  /** `null` for a webhook. */
  agent: Agent | null
}

/** What an agent's subscription has besides a webhook. */
interface Agent {
  principal: string
  expiresAt: number
  /** It gets the events after this number. */
  startSeq: number
  /** Events up to this number were skipped when its tenant was resumed. */
  skippedSeq: number
  /** The last event that was queued. */
  lastSeq: number
  readonly deliveries: Map<Event, Delivery>
}

export interface Delivery {
  id: number
  event: Event
  webhook: Webhook
  status: DeliveryStatus
  attempts: number
  dueAt: number
  createdAt: number
  fence: number
  /** The claim with the current fence; `null` before the first claim. */
  claim: Claim | null
}

/** A claim of a delivery, and its progress. */
interface Claim {
  machine: Machine
  delivery: Delivery
  claimed: ClaimedDelivery
  until: number
  /** The last fault of the machine before the claim. */
  troubledAt: number
  perEndpoint: number
  /** Whether the machine received the reply. */
  isKnown: boolean
  sent: Sent | null
  /** Whether it still has its lease. */
  isHeld: boolean
  /** Whether its result still counts. */
  isOpen: boolean
}

/**
 * The state that the ports' comments require. It follows each effect on the storage, and checks each claim, request
 * and result of the workers. It shares no code with the engine.
 */
export class Model {
  readonly webhooks = new Map<number, Webhook>()
  readonly events = new Map<string, Event>()
  readonly deliveries = new Map<number, Delivery>()
  readonly suspended = new Set<string>()
  /** Webhooks that the service disabled. */
  readonly disabled = new Set<number>()
  /** The environment that the storage belongs to. */
  environment: string | null = null
  readonly #claims = new Map<string, Claim>()
  /** Claims that reached their machine but were not sent yet, by machine, event and URL. */
  readonly #unsent = new Map<string, Claim[]>()
  readonly #written = new Set<Sent>()
  readonly #inFlight = new Set<Claim>()
  /** Claims that count towards `perEndpoint`, even if their delivery was stopped. */
  readonly #leases = new Set<Claim>()
  readonly #pending = new Set<Delivery>()
  /** How often a tenant was renamed, removed or pruned. Each time, positions in its feed become invalid. */
  readonly endedFeeds = new Map<string, number>()
  readonly #now: () => number
  readonly #schedule: readonly number[]
  #lastDeliveryId = 0
  #lastSeq = 0
  /** The last sequence of each tenant. */
  readonly #sequences = new Map<string, number>()

  /** `now` is the storage's clock. */
  constructor (now: () => number, schedule: readonly number[]) {
    this.#now = now
    this.#schedule = schedule
  }

  get pending (): ReadonlySet<Delivery> {
    return this.#pending
  }

  // Effects on webhooks.

  create (tenant: string, webhook: NewWebhook): void {
    this.webhooks.set(webhook.id, {
      id: webhook.id,
      tenant,
      status: webhook.status,
      url: webhook.target_url,
      types: webhook.event_types,
      filters: webhook.filters ?? null,
      secret: webhook.secret,
      previous: null,
      isDeleted: false,
      failingSince: null,
      failedDeliveries: 0,
      isWarned: false,
      pausedUntil: 0,
      agent: null
    })
  }

  // Effects on subscriptions.

  put (tenant: string, given: NewSubscription, stored: StoredSubscription | string): void {
    if (typeof stored === 'string') return
    const { webhookId: id, secret, gracePeriodSeconds } = given
    const expiresAt = this.#now() + given.ttlSeconds * 1000
    const known = this.webhooks.get(id)
    if (known?.agent) {
      if (known.isDeleted || !isLive(known, this.#now())) throw new Violation(`subscription ${id} came back`)
      known.agent.expiresAt = expiresAt
      if (secret !== null && secret !== known.secret) this.rotate(id, { secret, gracePeriodSeconds })
      if (known.pausedUntil > 0) clearFailures(known)
      for (const one of this.#pending) {
        if (one.webhook === known && one.claim?.isHeld !== true) one.dueAt = Math.min(one.dueAt, this.#now())
      }
      return
    }
    this.create(tenant, {
      id,
      tenantSlug: tenant,
      name: '',
      status: 'active',
      target_url: given.targetUrl,
      event_types: [given.eventType],
      secret: String(secret),
      filters: given.filters
    })
    const startSeq = seqOf(String(given.position))
    const agent = {
      principal: given.principal, expiresAt, startSeq, skippedSeq: 0, lastSeq: startSeq, deliveries: new Map()
    }
    this.#webhook(id).agent = agent
  }

  /** Records the end of a subscription, whose cursor an agent may continue from. */
  endSubscription ({ subscription: { webhook_id: id }, position }: StoredSubscription, isExpired: boolean): void {
    const webhook = this.#webhook(id)
    if (isExpired && isLive(webhook, this.#now())) throw new Violation(`subscription ${id} ended early`)
    this.checkCursor(webhook, position)
    this.delete(id)
  }

  /** Adds the deliveries that a call of `fill` has queued for a subscription. */
  addFilled (webhook: Webhook, rows: ReadonlyArray<{ id: number, event_id: string }>): void {
    const { agent } = webhook
    if (agent === null) return
    for (const { id, event_id: eventId } of rows) {
      if (this.deliveries.has(id)) continue
      const event = this.events.get(eventId)
      const reject = (problem: string): never => {
        throw new Violation(`subscription ${webhook.id} got ${eventId}, ${problem}`)
      }
      if (event === undefined || event.tenant !== webhook.tenant) return reject('which its tenant does not have')
      if (!isWanted(event, webhook, webhook.types)) reject('which does not match')
      if (event.seq <= agent.lastSeq) reject('which it got before')
      agent.lastSeq = event.seq
      this.#lastDeliveryId = id - 1
      agent.deliveries.set(event, this.#add(event, webhook, 'pending'))
    }
    if ([...this.#pending].filter((one) => one.webhook === webhook).length > 100) {
      throw new Violation(`subscription ${webhook.id} has more than 100 pending deliveries`)
    }
  }

  /** A cursor passes no event that is pending or that was not queued. */
  checkCursor (webhook: Webhook, position: string): void {
    const seq = seqOf(position)
    const passed = this.listOwed(webhook).find((event) => {
      const status = webhook.agent?.deliveries.get(event)?.status ?? 'pending'
      return event.seq <= seq && status === 'pending'
    })
    if (passed !== undefined) throw new Violation(`a cursor of subscription ${webhook.id} passes ${passed.id}`)
  }

  /** Lists the events that a subscription gets. */
  listOwed (webhook: Webhook): Event[] {
    return [...this.events.values()].filter((event) => event.tenant === webhook.tenant &&
      event.seq > (webhook.agent?.startSeq ?? 0) && event.body !== (event.tombstone ?? '') &&
      isWanted(event, webhook, webhook.types))
  }

  update (id: number, { status, target_url: url, event_types: types, filters }: WebhookChanges): void {
    const webhook = this.#webhook(id)
    if (status === 'active' || (url ?? webhook.url) !== webhook.url) clearFailures(webhook)
    Object.assign(webhook, {
      status: status ?? webhook.status,
      url: url ?? webhook.url,
      types: types ?? webhook.types,
      filters: filters === undefined ? webhook.filters : filters
    })
    if (status === 'inactive') this.#endPending(webhook, 'skipped')
  }

  delete (id: number): void {
    const webhook = this.#webhook(id)
    webhook.isDeleted = true
    this.#endPending(webhook, 'cancelled')
  }

  rotate (id: number, { secret, gracePeriodSeconds }: SecretRotation): void {
    const webhook = this.#webhook(id)
    webhook.previous = gracePeriodSeconds === 0
      ? null
      : { secret: webhook.secret, until: this.#now() + gracePeriodSeconds * 1000 }
    webhook.secret = secret
  }

  rename (from: string, to: Tenant): void {
    for (const webhook of this.webhooks.values()) if (webhook.tenant === from) webhook.tenant = to.id
    for (const event of this.events.values()) if (event.tenant === from) event.tenant = to.id
    for (const tenant of [from, to.id]) this.#endFeed(tenant)
    this.#sequences.set(to.id, this.#sequences.get(from) ?? 0)
    this.#sequences.delete(from)
    // The new id had no data. Its own suspension ends.
    this.suspended.delete(to.id)
    if (this.suspended.delete(from)) this.suspended.add(to.id)
  }

  resume (tenant: string, pending: 'deliver' | 'skip'): void {
    this.suspended.delete(tenant)
    for (const webhook of this.webhooks.values()) {
      if (webhook.tenant !== tenant || webhook.status !== 'active') continue
      clearFailures(webhook)
      if (pending !== 'skip') continue
      this.#endPending(webhook, 'skipped')
      if (webhook.agent !== null) webhook.agent.skippedSeq = webhook.agent.startSeq = this.#lastSeq
    }
  }

  remove (tenant: string): void {
    for (const webhook of this.webhooks.values()) {
      if (webhook.tenant !== tenant || webhook.isDeleted) continue
      webhook.isDeleted = true
      this.#endPending(webhook, 'cancelled')
    }
    for (const { id, event } of this.deliveries.values()) if (event.tenant === tenant) this.deliveries.delete(id)
    for (const { id, tenant: owner } of this.events.values()) if (owner === tenant) this.events.delete(id)
    this.suspended.delete(tenant)
    this.#sequences.delete(tenant)
    this.#endFeed(tenant)
  }

  // Effects on events and deliveries.

  record (tenant: string, event: NewEvent, { id, deliveries }: RecordedEvent): void {
    const earlier = [...this.events.values()].find(({ tenant: owner, key }) =>
      owner === tenant && key !== null && key === event.idempotencyKey)
    if (earlier !== undefined || id !== event.id) {
      if (id !== earlier?.id) throw new Violation(`an idempotency key returned ${id} instead of ${earlier?.id}`)
      return
    }
    const seq = ++this.#lastSeq
    const sequence = this.#nextSequence(tenant)
    const at = event.sequenceAt ?? null
    const withSequence = (text: string): string =>
      at === null ? text : text.slice(0, at) + sequence + text.slice(at)
    const recorded: Event = {
      id,
      tenant,
      type: event.type,
      body: withSequence(event.body),
      tombstone: event.tombstone && withSequence(event.tombstone),
      subject: event.subject,
      key: event.idempotencyKey,
      recordedAt: this.#now(),
      seq
    }
    const count = this.#publish(recorded)
    if (count !== deliveries) throw new Violation(`${id} has ${deliveries} deliveries instead of ${count}`)
  }

  #nextSequence (tenant: string): string {
    const sequence = Math.max((this.#sequences.get(tenant) ?? 0) + 1, Math.floor(this.#now() * 1000))
    this.#sequences.set(tenant, sequence)
    return String(sequence).padStart(16, '0')
  }

  /** Stores an event with a delivery for each webhook that gets it. Returns the number of pending ones. */
  #publish (event: Event): number {
    this.events.set(event.id, event)
    let count = 0
    for (const webhook of this.webhooks.values()) {
      if (webhook.tenant !== event.tenant || webhook.isDeleted || webhook.agent !== null) continue
      if (!isWanted(event, webhook, webhook.types)) continue
      if (webhook.status === 'active') count++
      this.#add(event, webhook, webhook.status === 'active' ? 'pending' : 'skipped')
    }
    return count
  }

  /** Takes the event about a change of a webhook's health from those that the storage has recorded. */
  #expectEvent (type: string, { id: webhookId, tenant }: Webhook, healthEvents: string[]): void {
    const index = healthEvents.findIndex((body) => body.includes(`"type":"${type}"`) &&
      body.endsWith(`"data":{"webhook_id":${webhookId}}}`))
    const [body] = index === -1 ? [] : healthEvents.splice(index, 1)
    if (body === undefined) throw new Violation(`no event ${type} tells the tenant about webhook ${webhookId}`)
    const { id, sequence } = JSON.parse(body) as { id: string, sequence: string }
    if (sequence !== this.#nextSequence(tenant)) throw new Violation(`${id} has the sequence ${sequence}`)
    this.#publish({
      id, tenant, type, body, tombstone: null, subject: null, key: null, recordedAt: this.#now(), seq: ++this.#lastSeq
    })
  }

  /** Recording attempts of an earlier environment claims nothing. */
  claimUnlessHeld (machine: Machine, options: ClaimOptions, claimed: readonly ClaimedDelivery[]): void {
    const isHeld = typeof options.environment === 'string' && options.environment !== (this.environment ?? options.environment)
    if (!isHeld || claimed.length > 0) this.claim(machine, options, claimed)
  }

  claim (machine: Machine, options: ClaimOptions, claimed: readonly ClaimedDelivery[]): void {
    const now = this.#now()
    const { environment = null } = options
    this.environment ??= environment
    if (environment !== null && environment !== this.environment) {
      throw new Violation(`${machine.name} of ${environment} claims in the storage of ${this.environment}`)
    }
    this.#expireLeases(now)
    const own = new Set(options.leases?.map(({ deliveryId, fence }) => `${deliveryId}/${fence}`))
    const held = new Map(options.places?.heldBy)
    for (const [index, one] of claimed.entries()) {
      if (!hasShare(options, held, one.tenantId, index)) throw new Violation(`${one.tenantId} got more than its share`)
      held.set(one.tenantId, (held.get(one.tenantId) ?? 0) + 1)
      this.#claimOne(machine, options, one, now, own)
      own.add(`${one.deliveryId}/${one.fence}`)
    }
    const leases = this.#countLeases(own)
    const left = [...this.#pending].filter((delivery) => {
      const { webhook } = delivery
      return isClaimable(delivery, now) && !this.suspended.has(webhook.tenant) &&
        hasRoom(webhook, options, leases) && hasShare(options, held, webhook.tenant, claimed.length)
    })
    const { limit } = options
    if (claimed.length < limit && left[0] !== undefined) {
      throw new Violation(`a claim for ${limit} got ${claimed.length} and left the due delivery ${left[0].id}`)
    }
    const shares = new Map<string, number>()
    for (const { tenantId } of claimed) shares.set(tenantId, (shares.get(tenantId) ?? 0) + 1)
    const largest = Math.max(...shares.values())
    for (const { id, webhook: { tenant } } of left) {
      if ((shares.get(tenant) ?? 0) + 1 < largest) {
        throw new Violation(`delivery ${id} of ${tenant} waits while another tenant gets ${largest} turns`)
      }
    }
  }

  #claimOne (
    machine: Machine, options: ClaimOptions, claimed: ClaimedDelivery, now: number, own: ReadonlySet<string>
  ): void {
    const { perEndpoint, leaseMs } = options
    const { deliveryId, webhookId, eventId, tenantId, fence, attemptCount } = claimed
    const delivery = this.deliveries.get(deliveryId)
    const reject = (problem: string): never => {
      throw new Violation(`${machine.name} claimed delivery ${deliveryId} of ${eventId}, ${problem}`)
    }
    if (delivery === undefined || delivery.event.id !== eventId || delivery.webhook.id !== webhookId) {
      return reject('which does not exist')
    }
    const { webhook, event, status, claim } = delivery
    if (status !== 'pending') reject(`which is ${status}`)
    if (webhook.isDeleted || webhook.status !== 'active') reject('whose webhook is deleted or not active')
    if (!isLive(webhook, now)) reject('whose subscription has expired')
    if (webhook.agent !== null) this.checkCursor(webhook, String(claimed.subscription?.position))
    if (webhook.tenant !== tenantId || event.tenant !== tenantId) reject(`which belongs to ${webhook.tenant}`)
    if (this.suspended.has(webhook.tenant)) reject('whose tenant is suspended')
    if (webhook.pausedUntil > now) reject(`whose webhook is paused for ${webhook.pausedUntil - now} ms more`)
    if (delivery.dueAt > now) reject(`which is due in ${delivery.dueAt - now} ms`)
    if (claim?.isHeld === true) reject(`which ${claim.machine.name} has leased`)
    if (fence <= delivery.fence) reject('with an old fence')
    if (attemptCount !== delivery.attempts) reject(`with ${attemptCount} instead of ${delivery.attempts} attempts`)
    if (claimed.body !== event.body) reject('with a body that was not recorded')
    if (claimed.targetUrl !== webhook.url) reject('with an old address')
    if (claimed.secrets.join(' ') !== validSecrets(webhook, now).join(' ')) reject('with other secrets')
    if (!hasRoom(webhook, options, this.#countLeases(own))) reject(`beyond ${perEndpoint} leases of its webhook`)
    delivery.fence = fence
    if (claim !== null) claim.isOpen = false
    delivery.claim = {
      machine,
      delivery,
      claimed,
      perEndpoint,
      until: now + leaseMs,
      troubledAt: machine.troubledAt,
      isKnown: false,
      sent: null,
      isHeld: true,
      isOpen: true
    }
    this.#claims.set(`${deliveryId}/${fence}`, delivery.claim)
    this.#leases.add(delivery.claim)
  }

  /** Records that a machine received the reply to a claim. */
  learn (claimed: readonly ClaimedDelivery[]): void {
    for (const { deliveryId, fence } of claimed) {
      const claim = this.#claims.get(`${deliveryId}/${fence}`)
      if (claim === undefined) continue
      claim.isKnown = true
      const key = requestKey(claim)
      this.#unsent.set(key, [...this.#unsent.get(key) ?? [], claim])
    }
  }

  /** Finds the claim of a machine's request, and checks that the request matches it. */
  send (sent: Sent): void {
    const { machine, request: { url, headers, body } } = sent
    const eventId = headers['webhook-id']
    const unsent = this.#unsent.get(`${machine.name} ${eventId} ${url}`) ?? []
    if (unsent.length === 0) throw new Violation(`${machine.name} sends ${eventId} to ${url} without a claim`)
    // The machine may have claimed the delivery twice before it sent anything.
    const claim = unsent.find(({ claimed }) => isSigned(sent.request, claimed.secrets))
    if (claim === undefined) throw new Violation(`${eventId} is not signed with the valid secrets`)
    unsent.splice(unsent.indexOf(claim), 1)
    claim.sent = sent
    const { subscription } = claim.claimed
    const isBody = subscription
      ? body.includes(`"eventId":"${eventId}"`) && headers['x-mcp-subscription-id'] === subscription.id
      : body === claim.claimed.body
    if (!isBody) throw new Violation(`${eventId} is sent with a body that was not claimed`)
    this.#checkPlaces(claim)
  }

  /** Checks the tenant's share of the machine, and the limit of the webhook over all machines. */
  #checkPlaces (claim: Claim): void {
    const { machine, delivery: { webhook }, claimed: { tenantId } } = claim
    for (const one of this.#inFlight) {
      if (one.sent === null || one.sent.result !== null || one.machine.state === 'dead') this.#inFlight.delete(one)
    }
    const others = [...this.#inFlight]
    this.#inFlight.add(claim)
    const held = others.filter((one) => one.machine === machine && one.claimed.tenantId === tenantId).length
    // An agent's delivery is sent some ticks after it takes its place, so others may have taken theirs since.
    if (!claim.claimed.subscription && machine.concurrency - (machine.inFlight - 1) <= held) {
      throw new Violation(`${machine.name} sends ${held + 1} requests of ${tenantId}, more than its share`)
    }
    const now = this.#now()
    const same = [...others, claim].filter((one) =>
      one.delivery.webhook === webhook && one.isHeld && one.until > now)
    const most = Math.max(1, ...same.map(({ perEndpoint }) => perEndpoint))
    if (same.length > most) throw new Violation(`webhook ${webhook.id} gets ${same.length} requests at a time`)
  }

  /** Two claims of an event by one machine send equal requests. Only their results show which is which. */
  #swapRequests (claim: Claim): void {
    const other = [...this.#claims.values()].find((one) => requestKey(one) === requestKey(claim) &&
      one.sent !== null && one.sent.result !== null && !this.#written.has(one.sent))
    if (other === undefined) return
    const unsent = this.#unsent.get(requestKey(claim)) ?? []
    if (unsent.includes(claim)) unsent[unsent.indexOf(claim)] = other
    ;[claim.sent, other.sent] = [other.sent, claim.sent]
  }

  /** Returns whether the result of a request was written. */
  isWritten (sent: Sent): boolean {
    return this.#written.has(sent)
  }

  /** `healthEvents` are the events about the health of webhooks that the storage recorded for this call. */
  recordAttempts (results: readonly AttemptResult[], rule: HealthRule, healthEvents: string[]): void {
    const now = this.#now()
    const failed = new Map<Webhook, boolean>()
    for (const result of results) {
      const delivery = this.deliveries.get(result.deliveryId)
      const claim = this.#claims.get(`${result.deliveryId}/${result.fence}`)
      if (claim === undefined) throw new Violation(`a result of delivery ${result.deliveryId} has no claim`)
      if (!hasAnswer(claim)) this.#swapRequests(claim)
      this.#checkResult(result, claim)
      if (claim.sent !== null) this.#written.add(claim.sent)
      if (delivery === undefined || !claim.isOpen) continue
      const { webhook } = delivery
      const counts = webhook.status === 'active' && webhook.url === result.targetUrl
      closeClaim(claim)
      if (result.outcome === 'postponed') {
        if (delivery.status === 'pending') delivery.dueAt = now + result.retryInMs
        continue
      }
      delivery.attempts++
      if (result.outcome === 'delivered') {
        this.#end(delivery, 'delivered')
        if (counts) clearFailures(webhook)
        continue
      }
      const isEnd = delivery.status === 'pending' && result.outcome === 'failed'
      if (isEnd) this.#end(delivery, 'failed')
      else if (result.outcome === 'retry' && delivery.status === 'pending') delivery.dueAt = now + result.retryInMs
      if (!counts) continue
      webhook.failingSince ??= now
      if (isEnd) webhook.failedDeliveries++
      if (result.outcome === 'retry' && result.pauseMs > 0) {
        webhook.pausedUntil = Math.max(webhook.pausedUntil, now + result.pauseMs)
      }
      failed.set(webhook, failed.get(webhook) === true || (result.outcome === 'failed' && result.isGone))
    }
    for (const [webhook, isGone] of failed) {
      const { failingSince, failedDeliveries, isDeleted } = webhook
      const isFailing = failingSince !== null && now - failingSince >= rule.failingForSeconds * 1000
      if (isDeleted || webhook.agent !== null) continue
      const tell = (type: HealthEventType): void => {
        if (rule.eventTypes?.includes(type) === true) this.#expectEvent(type, webhook, healthEvents)
      }
      if (isGone || (isFailing && failedDeliveries >= rule.failedDeliveries)) {
        webhook.status = 'disabled'
        this.disabled.add(webhook.id)
        this.#endPending(webhook, 'skipped')
        tell('webhook.disabled')
      } else if (failingSince !== null && now - failingSince >= rule.warnAfterSeconds * 1000 && !webhook.isWarned) {
        webhook.isWarned = true
        tell('webhook.failing')
      }
    }
    if (healthEvents.length > 0) throw new Violation(`an event about a webhook whose health did not change: ${healthEvents[0]}`)
  }

  /** Checks the outcome of an attempt against the network's response. */
  #checkResult (result: AttemptResult, { claimed, sent }: Claim): void {
    const answer = sent?.result
    const reject = (problem: string): never => {
      throw new Violation(`the result of delivery ${result.deliveryId} ${problem}`)
    }
    if (answer === undefined || answer === null) return reject('was never sent')
    if (result.responseStatus !== answer.responseStatus || result.error !== answer.error) reject('is not the response')
    if (result.outcome === 'postponed' || answer.ownFault !== undefined) {
      if (result.outcome !== 'postponed') reject('counts although the process is cut off')
      else if (answer.ownFault === undefined) reject('does not count')
      else if (result.retryInMs > 60_000) reject('waits longer than a minute')
      return
    }
    const is410 = answer.responseStatus === 410
    const isGone = is410 && !claimed.subscription
    const schedule = claimed.subscription ? [0, 30, 120, 600] : this.#schedule
    const seconds = answer.error === 'blocked' || is410 ? undefined : schedule[claimed.attemptCount + 1]
    const outcome = answer.error === null ? 'delivered' : seconds === undefined ? 'failed' : 'retry'
    if (result.outcome !== outcome) reject(`is ${result.outcome} instead of ${outcome}`)
    if (result.outcome === 'failed' && result.isGone !== isGone) reject('has the wrong isGone')
    if (result.outcome !== 'retry' || seconds === undefined) return
    const leastMs = Math.max(seconds, /^\d+$/.test(answer.retryAfter ?? '') ? Number(answer.retryAfter) : 0) * 1000
    if (result.retryInMs < leastMs || result.retryInMs > leastMs * 1.2 + 1) {
      reject(`waits ${result.retryInMs} ms instead of ${leastMs} ms`)
    }
  }

  release (leases: readonly Lease[]): void {
    for (const { deliveryId, fence } of leases) {
      const claim = this.deliveries.get(deliveryId)?.claim
      if (claim?.claimed.fence === fence) closeClaim(claim)
      const released = this.#claims.get(`${deliveryId}/${fence}`)
      const unsent = released === undefined ? [] : this.#unsent.get(requestKey(released)) ?? []
      if (released !== undefined && unsent.includes(released)) unsent.splice(unsent.indexOf(released), 1)
    }
  }

  replay (webhookId: number, selection: ReplaySelection, { queued }: ReplayResult): void {
    const webhook = this.#webhook(webhookId)
    const events = this.#selectReplay(webhook, selection)
    if (events.length !== queued) throw new Violation(`a replay queued ${queued} events instead of ${events.length}`)
    for (const event of events) this.#add(event, webhook, 'pending')
  }

  countReplay (webhookId: number, selection: ReplaySelection, { queued }: ReplayResult): void {
    const { length } = this.#selectReplay(this.#webhook(webhookId), selection)
    if (length !== queued) throw new Violation(`a dry run counted ${queued} events instead of ${length}`)
  }

  #selectReplay (
    webhook: Webhook, { include, eventTypes, eventIds, since, until, limit }: ReplaySelection
  ): Event[] {
    const types = webhook.types.filter((type) => eventTypes?.includes(type) ?? true)
    return [...this.events.values()].filter((event) => {
      if (event.tenant !== webhook.tenant || !(eventIds?.includes(event.id) ?? true)) return false
      if (since !== null && event.recordedAt < Date.parse(since)) return false
      if (until !== null && event.recordedAt > Date.parse(until)) return false
      const last = this.#last(event, webhook)?.status
      const isSelected = include === 'all' ? last !== 'pending' : last === 'failed' || last === 'skipped'
      return isSelected && isWanted(event, webhook, types)
    }).slice(0, limit)
  }

  retry (webhookId: number, id: number, retriedId: number): void {
    const webhook = this.#webhook(webhookId)
    const delivery = this.deliveries.get(id)
    if (delivery === undefined) throw new Violation(`delivery ${id} was retried and does not exist`)
    const last = this.#last(delivery.event, webhook)
    const retried = last?.status === 'pending' ? last : this.#add(delivery.event, webhook, 'pending')
    if (retried.id !== retriedId) throw new Violation(`a retry returned delivery ${retriedId} instead of ${retried.id}`)
    if (retried.claim?.isHeld !== true) retried.dueAt = Math.min(retried.dueAt, this.#now())
  }

  erase (tenant: string, subject: string, count: number): void {
    const erased = [...this.events.values()].filter((event) => event.tenant === tenant && event.subject === subject)
    if (erased.length !== count) throw new Violation(`${count} events were erased instead of ${erased.length}`)
    for (const event of erased) event.body = event.tombstone ?? ''
    for (const delivery of this.#pending) if (erased.includes(delivery.event)) this.#end(delivery, 'cancelled')
  }

  prune ({ retentionDays }: { retentionDays: number }): void {
    const before = this.#now() - retentionDays * 86_400_000
    this.#expireLeases(this.#now())
    for (const delivery of this.deliveries.values()) {
      const { id, status, createdAt, webhook, claim } = delivery
      const isKept = status === 'pending' && (claim?.isHeld === true || !this.suspended.has(webhook.tenant))
      if (isKept || createdAt >= before) continue
      this.deliveries.delete(id)
      this.#pending.delete(delivery)
    }
    const kept = new Set([...this.deliveries.values()].map(({ event }) => event))
    for (const event of this.events.values()) {
      if (kept.has(event) || event.recordedAt >= before) continue
      this.events.delete(event.id)
      for (const { tenant } of this.webhooks.values()) this.#endFeed(tenant)
      this.#endFeed(event.tenant)
    }
  }

  adopt ({ environment, pending, keepWebhooks = false }: AdoptOptions): void {
    this.environment = environment
    if (pending === 'deliver') return
    for (const delivery of this.#pending) this.#end(delivery, 'skipped')
    this.disabled.clear()
    for (const webhook of this.webhooks.values()) webhook.isDeleted ||= webhook.agent !== null
    if (!keepWebhooks) for (const webhook of this.webhooks.values()) if (!webhook.isDeleted) webhook.status = 'inactive'
  }

  /** Fails if a machine still has leases after it closed without a failure. */
  assertReleased (machine: Machine): void {
    const held = [...this.#pending].find(({ claim, webhook }) => {
      if (claim?.machine !== machine || !claim.isKnown) return false
      // An agent's delivery waits for the end of its lease if the secret for its cursor could not be read.
      const isExcused = webhook.agent !== null && claim.sent === null && machine.troubledAt > claim.troubledAt
      return claim.isHeld && !isExcused
    })
    if (held !== undefined) throw new Violation(`${machine.name} closed and still leases delivery ${held.id}`)
  }

  #add (event: Event, webhook: Webhook, status: 'pending' | 'skipped'): Delivery {
    const now = this.#now()
    const id = ++this.#lastDeliveryId
    const delivery: Delivery = {
      id, event, webhook, status, attempts: 0, dueAt: now, createdAt: now, fence: 0, claim: null
    }
    this.deliveries.set(id, delivery)
    if (status === 'pending') {
      this.#pending.add(delivery)
      this.onPending(delivery)
    }
    return delivery
  }

  /** Called for each delivery that becomes pending. */
  onPending: (delivery: Delivery) => void = () => {}

  #last (event: Event, webhook: Webhook): Delivery | undefined {
    return [...this.deliveries.values()].findLast((one) => one.event === event && one.webhook === webhook)
  }

  #countLeases (own: ReadonlySet<string>): Leases {
    const counts: Leases = new Map()
    for (const lease of this.#leases) {
      if (!lease.isHeld) {
        this.#leases.delete(lease)
        continue
      }
      const { delivery: { id, webhook }, claimed: { fence } } = lease
      const count = counts.get(webhook) ?? { own: 0, others: 0 }
      count[own.has(`${id}/${fence}`) ? 'own' : 'others']++
      counts.set(webhook, count)
    }
    return counts
  }

  #expireLeases (now: number): void {
    for (const lease of this.#leases) if (lease.until <= now) lease.isHeld = false
  }

  #endPending (webhook: Webhook, status: DeliveryStatus): void {
    for (const delivery of this.#pending) if (delivery.webhook === webhook) this.#end(delivery, status)
  }

  #end (delivery: Delivery, status: DeliveryStatus): void {
    delivery.status = status
    this.#pending.delete(delivery)
  }

  #endFeed (tenant: string): void {
    this.endedFeeds.set(tenant, (this.endedFeeds.get(tenant) ?? 0) + 1)
  }

  #webhook (id: number): Webhook {
    const webhook = this.webhooks.get(id)
    if (webhook === undefined) throw new Violation(`webhook ${id} does not exist`)
    return webhook
  }
}

type Leases = Map<Webhook, { own: number, others: number }>

function hasRoom (
  webhook: Webhook, { perEndpoint, aheadPerEndpoint = perEndpoint }: ClaimOptions, leases: Leases
): boolean {
  const { own, others } = leases.get(webhook) ?? { own: 0, others: 0 }
  if (webhook.pausedUntil > 0) return own + others === 0
  return others === 0 ? own < aheadPerEndpoint : own + others < perEndpoint
}

function hasShare (
  { places }: ClaimOptions, held: ReadonlyMap<string, number>, tenantId: string, taken: number
): boolean {
  return places === undefined || places.free - taken > (held.get(tenantId) ?? 0)
}

function isClaimable ({ webhook, dueAt, claim }: Delivery, now: number): boolean {
  return webhook.status === 'active' && !webhook.isDeleted && isLive(webhook, now) && webhook.pausedUntil <= now &&
    dueAt <= now &&
    claim?.isHeld !== true
}

/** Returns whether it is a webhook, or a subscription that has not expired. */
function isLive ({ agent }: Webhook, now: number): boolean {
  return agent === null || now < agent.expiresAt
}

/** Returns the number of the last event before a position in the feed. */
function seqOf (position: string): number {
  return Number(/\d+$/.exec(position)?.[0])
}

function requestKey ({ machine, claimed: { eventId, targetUrl } }: Claim): string {
  return `${machine.name} ${eventId} ${targetUrl}`
}

function hasAnswer ({ sent }: Claim): boolean {
  return sent !== null && sent.result !== null
}

function closeClaim (claim: Claim): void {
  claim.isHeld = false
  claim.isOpen = false
}

function clearFailures (webhook: Webhook): void {
  Object.assign(webhook, { failingSince: null, failedDeliveries: 0, isWarned: false, pausedUntil: 0 })
}

function validSecrets ({ secret, previous }: Webhook, now: number): string[] {
  return previous !== null && now < previous.until ? [secret, previous.secret] : [secret]
}

/**
 * Returns whether a webhook gets an event: it subscribes to the type, each filter matches, and the event is not about
 * its own health.
 */
function isWanted ({ type, body }: Event, { id, filters }: Webhook, types: readonly string[]): boolean {
  if (!types.includes(type)) return false
  const { data } = JSON.parse(body) as { data: Record<string, unknown> | null }
  if (type.startsWith('webhook.') && data?.webhook_id === id) return false
  return Object.entries(filters ?? {}).every(([path, values]) =>
    (values as readonly unknown[]).includes(data?.[path.slice('data.'.length)] ?? null))
}
