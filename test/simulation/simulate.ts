import { RecruitingApiError, InputError } from '../../src/core/shared/errors.js'
import { memoryStorage } from '../../src/storages/memory/index.js'
import { readRecruitingOptions } from '../../src/options.js'
import type {
  ChangeSource, ErasedEvents, EventFeed, EventFilters, EventStorage, Filled, RecordedAndClaimed, ResumeOptions,
  StoredSubscription
} from '../../src/core/ports/index.js'
import { createSteadyNow } from '../../src/core/shared/clock.js'
import type { CreateWebhookInput, UpdateWebhookInput } from '../../src/core/webhooks/recruiting.js'
import { webhookEvents } from '../../src/core/api/catalogue.js'
import { createEngine, type Engine } from '../../src/core/webhooks/engine.js'
import { createHistoryPlaces } from '../../src/core/webhooks/history.js'
import { type Delivery, Model, type Webhook } from './model.js'
import { moods, Network, type Sent } from './network.js'
import { createRandom, type Random } from './random.js'
import { connect, type OnEffect, StorageFault, Transaction, type Weather } from './storage.js'
import { Machine, Violation, World } from './world.js'

/** A step of the simulation. Its seed decides the details. */
export interface Step {
  at: number
  name: keyof typeof weights | typeof suspensions[number] | 'watchHealth'
  seed: number
}

/** The result of a run. */
export interface Run {
  seed: number
  /** The digest of everything that happened. */
  digest: string
  /** The broken promise; `null` without one. */
  failure: string | null
  trace: readonly string[]
  steps: Step[]
  /** Events in simulated time. */
  events: number
  /** Requests that endpoints read. */
  received: number
  /** Failed storage calls, lost hints, failed attempts, killed and suspended servers. */
  faults: number
  /** Simulated milliseconds. */
  time: number
}

/** How often each step happens. */
export const weights = {
  emit: 40,
  emitInTransaction: 6,
  create: 6,
  patch: 10,
  rotate: 4,
  delete: 2,
  test: 4,
  replay: 6,
  retry: 6,
  subscribe: 8,
  unsubscribe: 2,
  poll: 4,
  erase: 4,
  rename: 1,
  remove: 0.5,
  prune: 2,
  readFeed: 10,
  saveCandidate: 10,
  readSync: 10,
  adopt: 1,
  changeMood: 14,
  start: 3,
  kill: 3,
  close: 3,
  suspend: 4,
  setClock: 4,
  setStorageClock: 2,
  outage: 3
}

/** Only on some days. */
const suspensions = ['suspendTenant', 'resumeTenant'] as const

const schema = { type: 'object', properties: { id: { type: 'integer' }, job_id: { type: 'integer' } } }
export const types = ['application.created', 'application.updated', 'job.created']
export const events = Object.fromEntries(types.map((type) => [type, schema]))
const healthTypes = Object.keys(webhookEvents)
const calm: Weather = { isDown: false, longestMs: 20, failsBefore: 0, losesReply: 0, repeats: 0, losesHint: 0 }
const rough: Weather = {
  isDown: false, longestMs: 200, failsBefore: 0.02, losesReply: 0.02, repeats: 0.02, losesHint: 0.2
}
const clean = { ...calm }
const dayMs = 86_400_000

/** Runs a bad day. A seed always produces the same run. Skips the `dropped` steps. */
export async function simulate (
  seed: number, { isTraced = false, dropped = new Set() }: { isTraced?: boolean, dropped?: ReadonlySet<number> } = {}
): Promise<Run> {
  const day = new Day(seed, isTraced)
  const steps = day.plan()
  let failure: string | null = null
  try {
    await day.run(steps.filter((_step, index) => !dropped.has(index)))
  } catch (error) {
    failure = error instanceof Violation ? error.message : String((error as Error).stack)
  }
  const { world, network } = day
  return {
    seed,
    digest: world.digest(),
    failure,
    events: world.steps,
    faults: world.faults,
    trace: world.trace,
    steps,
    received: network.receipts.length,
    time: world.time
  }
}

/** An engine and its machine. */
interface Server {
  machine: Machine
  engine: Engine
}

/** A client that copies a tenant's feed. */
interface Reader {
  tenant: string
  position: string | null
  ended: number
  ids: string[]
  isBusy: boolean
}

/** An agent that subscribes, sleeps, lapses, returns with its last cursor, and polls. */
interface AgentClient {
  id: string
  principal: string
  url: string
  type: string
  filters: EventFilters | null
  tenant: string
  /** Its last subscription. */
  webhookId: number | null
  /** `null` before it has subscribed or polled. */
  position: string | null
  /** The first position of the events that it gets without a gap. */
  since: number
  /** How often the tenant's feed was ended when it began. */
  ended: number
  polled: Set<string>
  isBusy: boolean
}

/** A client that copies the ids of a tenant's candidates by sync. */
interface Mirror {
  position: string | null
  ids: Set<string>
  isBusy: boolean
}

/** The tenant of the candidates, which is never renamed. */
const atsTenant = 'ats'
const candidateIds = Array.from({ length: 30 }, (_none, index) => index + 1)

class Day {
  readonly world: World
  readonly network: Network
  readonly #random: Random
  /** For the steps of `suspensions`, so that the others stay the same. */
  readonly #others: Random
  /** For the steps in which failing webhooks watch each other. */
  readonly #watching: Random
  readonly #isWatching: boolean
  readonly #model: Model
  readonly #storage: ReturnType<typeof memoryStorage>
  readonly #storageNow: () => number
  readonly #isCalm: boolean
  readonly #weather: Weather
  readonly #servers: Server[] = []
  readonly #readers: Reader[] = []
  readonly #agents: AgentClient[] = []
  readonly #reported = new Set<number>()
  readonly #mirror: Mirror = { position: null, ids: new Set(), isBusy: false }
  readonly #tenants: string[]
  readonly #delivery
  readonly #pollMs: number
  #environment: string | null
  #storageForwardMs = 0
  #serverCount = 0
  #urlCount = 0
  #tenantCount = 0

  constructor (seed: number, isTraced: boolean) {
    const random = createRandom(seed)
    this.#random = random
    this.#others = createRandom(seed + 0x5eed)
    this.#watching = createRandom(seed + 0xfeed)
    this.#isWatching = this.#watching.chance(0.4)
    this.world = new World(isTraced)
    this.network = new Network(this.world, createRandom(random.integer(0, 2 ** 31)))
    this.#isCalm = random.chance(0.3)
    this.#weather = this.#isCalm ? { ...calm } : { ...rough }
    this.#pollMs = this.#isCalm ? 60_000 : random.pick([1000, 10_000, 60_000])
    this.#environment = random.pick([null, 'environment0'])
    const timeoutMs = random.pick([1000, 15_000])
    // Long waits with a short poll interval would need many polls.
    const retrySchedule = random.pick(
      this.#pollMs > 10_000 ? [[0, 5, 300, 1800, 7200], [2, 600]] : [[0, 5, 60], [1, 0.5, 30, 90]]
    )
    this.#delivery = {
      timeoutMs,
      retrySchedule,
      pollMs: this.#pollMs,
      leaseMs: timeoutMs + random.pick([5000, 60_000]),
      closeGraceMs: random.pick([0, 500, 20_000]),
      disableAfter: { failingForSeconds: random.pick([60, 3600]), failedDeliveries: random.pick([1, 3]) },
      retentionDays: 1
    }
    const clock = {
      now: () => Date.UTC(2026, 0, 1) + this.world.time + this.#storageForwardMs, monotonic: () => this.world.time
    }
    this.#storage = memoryStorage({ clock })
    this.#storageNow = createSteadyNow(clock)
    this.#model = new Model(this.#storageNow, retrySchedule)
    this.#tenants = Array.from({ length: random.integer(1, 4) }, () => this.#newTenant())
    this.network.onSend = (sent) =>
      this.#check(() => {
        this.world.log(
          `${sent.machine.name} sends ${String(sent.request.headers['webhook-id'])} to ${sent.request.url}`
        )
        if (isTest(sent)) return
        if (sent.request.timeoutMs !== timeoutMs) throw new Violation('an attempt has less than the full timeout')
        this.#model.send(sent)
      })
    this.network.onAnswer = (sent) => {
      if (isTest(sent)) return
      this.#expectResult(sent)
      this.#keepCursor(sent)
    }
    if (this.#isCalm) this.#expectPromptClaims()
  }

  /** Draws the steps. */
  plan (): Step[] {
    const random = this.#random
    const endMs = this.#pollMs * 80
    const calmWeights = { ...weights, kill: 0, suspend: 0, outage: 0, setStorageClock: 0, close: 0, setClock: 0 }
    const count = random.integer(30, 120)
    const steps: Step[] = Array.from({ length: count }, () => ({
      // Half of the steps come in bursts.
      at: random.chance(0.5)
        ? random.integer(0, endMs)
        : Math.floor((endMs * random.integer(1, 9)) / 10) + random.integer(0, 2000),
      name: random.weighted(this.#isCalm ? calmWeights : weights),
      seed: random.integer(0, 2 ** 31)
    }))
    const others = this.#others
    for (let left = others.chance(0.5) ? others.integer(1, 8) : 0; left > 0; left--) {
      steps.push({ at: others.integer(0, endMs), name: others.pick(suspensions), seed: others.integer(0, 2 ** 31) })
    }
    const watching = this.#watching
    for (let left = this.#isWatching ? watching.integer(1, 3) : 0; left > 0; left--) {
      steps.push({ at: watching.integer(0, endMs / 2), name: 'watchHealth', seed: watching.integer(0, 2 ** 31) })
    }
    return steps.sort((one, other) => one.at - other.at)
  }

  async run (steps: readonly Step[]): Promise<void> {
    const { world } = this
    for (const tenant of this.#tenants) this.#readers.push({ tenant, position: null, ended: 0, ids: [], isBusy: false })
    for (let count = this.#random.integer(1, 3); count > 0; count--) this.#startServer(this.#random)
    await world.runUntil(0)
    for (let count = this.#random.integer(1, 5); count > 0; count--) this.#take('create', this.#random)
    for (const { at, name, seed } of steps) {
      world.after(at, () => {
        world.log(name)
        this.#take(name, createRandom(seed))
      })
    }
    await world.runUntil((steps.at(-1)?.at ?? 0) + 1000)
    await this.#recover()
    await this.#assertAgents()
    await this.#assertLogs()
    await this.#assertReaders()
    await this.#assertMirror()
    await this.#closeAll()
  }

  #check (run: () => void): void {
    try {
      run()
    } catch (error) {
      this.world.fail(error)
    }
  }

  // The servers.

  #startServer (random: Random): Server {
    const { world } = this
    const machine = new Machine(`server${++this.#serverCount}`, world)
    const storage = connect(this.#storage, machine, {
      world,
      random: createRandom(random.integer(0, 2 ** 31)),
      weather: this.#weather,
      onEffect: this.#onEffect,
      onReply: (method, result) => {
        if (method === 'claimDue') this.#model.learn(result as never)
        if (method === 'recordAndClaim') this.#model.learn((result as RecordedAndClaimed).claimed)
      }
    })
    const jitter = createRandom(random.integer(0, 2 ** 31))
    const concurrency = random.pick([1, 3, 64])
    const settings = readRecruitingOptions({
      storage,
      delivery: {
        ...this.#delivery,
        ...(this.#environment === null ? {} : { environment: this.#environment }),
        clock: machine.clock,
        concurrency,
        perEndpoint: random.pick([1, 2, 4])
      }
    })
    const catalogue = this.#isWatching ? { ...events, ...webhookEvents } : events
    const engine = createEngine({ ...settings, events: catalogue as never }, silent, {
      clock: machine.clock,
      nextTick: () => machine.nextTick(),
      random: () => jitter.next(),
      createSender: () => this.network.createSender(machine, concurrency),
      historyPlaces: createHistoryPlaces(machine.clock)
    })
    engine.recruiting.on('webhookDisabled', ({ webhookId }) => {
      this.#reported.add(webhookId)
    })
    engine.start()
    const server = { machine, engine }
    this.#servers.push(server)
    return server
  }

  #running (): Server[] {
    return this.#servers.filter(({ machine }) => machine.state === 'running' && !machine.isClosing)
  }

  #stop (server: Server): void {
    this.#servers.splice(this.#servers.indexOf(server), 1)
  }

  readonly #onEffect: OnEffect = async (machine, port, method, args, result) => {
    const { world } = this
    const model = this.#model
    const [first, second, third] = args as [never, never, never]
    if (result === null || result === false) return
    if (method !== 'listStates' && method !== 'claimNotices' && method !== 'find') {
      this.world.log(`${machine.name} ${port}.${method} ${describe(result)}`)
    }
    const isRecording = method === 'recordAttempts' || method === 'recordAndClaim'
    const healthEvents = isRecording && this.#isWatching ? await this.#readHealthEvents() : []
    const changes: Record<string, () => void> = {
      'webhooks.create': () => model.create(first, second),
      'webhooks.update': () => model.update(second, third),
      'webhooks.delete': () => model.delete(second),
      'webhooks.rotateSecret': () => model.rotate(second, third),
      'webhooks.renameTenant': () => model.rename((first as { id: string }).id, second),
      'webhooks.removeTenant': () => model.remove(first),
      'webhooks.suspendTenant': () => model.suspended.add(first),
      'webhooks.resumeTenant': () => model.resume(first, (second as ResumeOptions).pending),
      'deliveries.record': () => model.record(first, second, result as never),
      'deliveries.claimDue': () => model.claim(machine, first, result as never),
      'deliveries.recordAttempts': () => model.recordAttempts(first, second, healthEvents),
      'deliveries.recordAndClaim': () => {
        model.recordAttempts(first, second, healthEvents)
        model.claimUnlessHeld(machine, third, (result as RecordedAndClaimed).claimed)
      },
      'deliveries.release': () => model.release(first),
      'deliveries.replay': () => model.replay(second, third, result as never),
      'deliveries.countReplay': () => model.countReplay(second, third, result as never),
      'deliveries.retry': () => model.retry(second, third, (result as { id: number }).id),
      'deliveries.erase': () => model.erase(first, second, (result as ErasedEvents).events),
      'deliveries.prune': () => model.prune(first),
      'holds.adopt': () => model.adopt(first),
      'subscriptions.put': () => model.put(first, second, result as never),
      'subscriptions.end': () => {
        for (const one of result as StoredSubscription[]) model.endSubscription(one, false)
      },
      'subscriptions.fill': () => {
        for (const one of (result as Filled).ended) model.endSubscription(one, true)
        if ((result as Filled).queued > 0) this.#addFilled().catch((error: unknown) => world.fail(error))
      }
    }
    changes[`${port}.${method}`]?.()
  }

  /** Returns the events about the health of webhooks that the model does not know yet. */
  async #readHealthEvents (): Promise<string[]> {
    const live = [...this.#model.webhooks.values()].filter(({ isDeleted }) => !isDeleted)
    const query = { limit: 1000, eventTypes: healthTypes }
    const bodies = await Promise.all([...new Set(live.map(({ tenant }) => tenant))].map((tenant) =>
      this.#storage.feed.latest(tenant, query)))
    return bodies.flat().filter((body) => !this.#model.events.has((JSON.parse(body) as { id: string }).id))
  }

  // The steps.

  #take (name: Step['name'], random: Random): void {
    const server = this.#running().length === 0 ? this.#startServer(random) : random.pick(this.#running())
    const tenantSlug = random.pick(this.#tenants)
    const { recruiting } = server.engine
    const live = [...this.#model.webhooks.values()].filter(({ isDeleted }) => !isDeleted)
    const webhook = live.filter(({ agent }) => agent === null)
    const call = (answer: Promise<unknown>): void => {
      answer.catch((error: unknown) => {
        const isExpected =
          error instanceof RecruitingApiError || error instanceof InputError || error instanceof StorageFault
        if (!isExpected) this.world.fail(error)
      })
    }
    const withWebhook = (run: (tenant: string, id: number) => Promise<unknown>): void => {
      if (webhook.length === 0) return
      const { tenant, id } = random.pick(webhook)
      call(run(tenant, id))
    }

    switch (name) {
      case 'emit':
      case 'emitInTransaction': {
        const count = random.pick([1, 1, 2, 5, 20])
        for (let index = 0; index < count; index++) this.#emit(server, tenantSlug, random, name, call)
        return
      }
      case 'create':
        return call(
          recruiting.webhooks.create(tenantSlug, drawWebhook(random, 'CRM sync', this.#newUrl(random)))
        )
      case 'patch':
        return withWebhook((tenant, id) =>
          recruiting.webhooks.update(tenant, id, drawPatch(random, this.#newUrl(random))))
      case 'watchHealth': {
        for (let count = 2; count > 0; count--) {
          const url = this.#newUrl(random)
          this.network.setMood(url, random.pick(['error', 'hangs', 'unreachable', 'gone']))
          const input = { name: 'Watcher', target_url: url, event_types: [...types, ...healthTypes] }
          call(recruiting.webhooks.create(tenantSlug, input))
        }
        return
      }
      case 'rotate':
        return withWebhook((tenant, id) =>
          recruiting.webhooks.rotateSecret(tenant, id, { grace_period_seconds: random.pick([0, 60, 86_400]) })
        )
      case 'delete':
        return withWebhook((tenant, id) => recruiting.webhooks.delete(tenant, id))
      case 'test':
        return withWebhook((tenant, id) => recruiting.webhooks.sendTest(tenant, id))
      case 'replay':
        return withWebhook((tenant, id) =>
          recruiting.webhooks.replay(tenant, id, {
            include: random.pick(['undelivered', 'all'] as const), dry_run: random.chance(0.2)
          })
        )
      case 'retry':
        return withWebhook((tenant, id) => {
          const own = [...this.#model.deliveries.values()].filter((delivery) => delivery.webhook.id === id)
          const delivery = own.length === 0 ? 1 : random.pick(own).id
          return recruiting.webhooks.retryDelivery(tenant, id, delivery)
        })
      case 'erase':
        return call(recruiting.erase({ tenantSlug, subject: `candidate:${random.integer(1, 4)}` }))
      case 'rename': {
        const to = this.#newTenant()
        this.#replaceTenant(tenantSlug, to)
        return call(recruiting.renameTenant(tenantSlug, to))
      }
      case 'remove':
        this.#replaceTenant(tenantSlug, this.#newTenant())
        return call(recruiting.removeTenant({ tenantSlug }))
      case 'suspendTenant':
        return call(recruiting.suspendTenant(tenantSlug))
      case 'resumeTenant':
        return call(recruiting.resumeTenant(tenantSlug, { pending: random.pick(['deliver', 'skip'] as const) }))
      case 'prune':
        return call(recruiting.prune())
      case 'readFeed':
        return this.#readPage(random.pick(this.#readers), this.#connect(server, random).feed, random)
      case 'subscribe': {
        const isNew = this.#agents.length < 2 || random.chance(0.3)
        const agent = isNew ? this.#newAgent(random, tenantSlug) : random.pick(this.#agents)
        return call(this.#subscribe(agent, this.#connect(server, random), random.pick([30, 600, 3600, 86_400])))
      }
      case 'unsubscribe': {
        if (this.#agents.length === 0) return
        const { id, principal, tenant } = random.pick(this.#agents)
        const which = random.chance(0.5) ? { id } : { principal }
        return call(this.#connect(server, random).subscriptions.end(tenant, which, 'unsubscribed'))
      }
      case 'poll':
        if (this.#agents.length === 0) return
        return call(this.#poll(random.pick(this.#agents), this.#connect(server, random).feed, random))
      case 'saveCandidate': {
        const id = random.pick(candidateIds)
        if (random.chance(0.3)) this.#storage.candidates.remove(atsTenant, id)
        else this.#storage.candidates.save(atsTenant, { id, full_name: 'Ada Lovelace' })
        return
      }
      case 'readSync':
        return this.#sync(this.#connect(server, random).changes, random)
      case 'adopt': {
        if (this.#environment === null) return
        this.#environment = `environment${this.#serverCount + 1}`
        const pending = random.pick(['deliver', 'discard'] as const)
        const newServer = this.#startServer(random)
        return call(
          newServer.engine.recruiting.adopt(
            pending === 'deliver' ? { pending } : { pending, keepWebhooks: random.chance(0.5) }
          )
        )
      }
      case 'changeMood': {
        const { url } = live.length === 0 ? { url: '' } : random.pick(live)
        return this.network.setMood(url, random.weighted(moods))
      }
      case 'start': {
        if (this.#servers.length < 4) this.#startServer(random)
        return
      }
      case 'kill':
        server.machine.kill()
        return this.#stop(server)
      case 'close':
        return this.#close(server)
      case 'suspend': {
        server.machine.suspend()
        this.world.after(random.pick([100, 10_000, this.#delivery.leaseMs + 1000, 200_000]), () =>
          server.machine.resume()
        )
        return
      }
      case 'setClock':
        return server.machine.setClock(random.pick([-dayMs, -3_600_000, -1000, 1000, 3_600_000, dayMs]))
      case 'setStorageClock':
        // Reads the steady clocks of the storage and the model before and after the change.
        this.#storageNow()
        this.#storage.deliveries.stats().catch(() => {})
        this.#storageForwardMs += random.pick([-3_600_000, -1000, 1000, 600_000])
        this.#storageNow()
        this.#storage.deliveries.stats().catch(() => {})
        return
      case 'outage': {
        this.#weather.isDown = true
        this.world.after(random.pick([500, 20_000, 300_000]), () => {
          this.#weather.isDown = false
          for (const { machine } of this.#servers) machine.trouble()
        })
      }
    }
  }

  /** Returns a server's view of the storage for clients. */
  #connect ({ machine }: Server, random: Random) {
    const { feed, changes, subscriptions } = connect(this.#storage, machine, {
      world: this.world,
      random: createRandom(random.integer(0, 2 ** 31)),
      weather: this.#weather,
      onEffect: this.#onEffect,
      onReply: () => {}
    })
    return {
      feed: feed ?? this.#storage.feed,
      changes: changes ?? this.#storage.changes,
      subscriptions: subscriptions ?? this.#storage.subscriptions
    }
  }

  // The agents.

  #newAgent (random: Random, tenant: string): AgentClient {
    const agent: AgentClient = {
      id: `subscription-${this.#agents.length + 1}`,
      principal: `key_${random.integer(1, 2)}`,
      url: this.#newUrl(random),
      type: random.pick(types),
      filters: random.chance(0.3) ? { 'data.job_id': [1, 2] } : null,
      tenant,
      webhookId: null,
      position: null,
      since: 0,
      ended: 0,
      polled: new Set(),
      isBusy: false
    }
    this.#agents.push(agent)
    return agent
  }

  /** After a rename, an agent uses its tenant's new address. Positions of the old one are not valid there. */
  #followRename (agent: AgentClient): void {
    const tenant = this.#model.webhooks.get(agent.webhookId ?? 0)?.tenant ?? agent.tenant
    if (tenant !== agent.tenant) Object.assign(agent, { tenant, position: null })
  }

  /** Returns a valid position to continue from: its own, or after a gap that of the oldest event. */
  async #resume (agent: AgentClient, feed: EventFeed): Promise<string> {
    const { position: after, tenant, type } = agent
    const ended = this.#model.endedFeeds.get(tenant) ?? 0
    const query = { after, limit: 1, eventTypes: [type], filters: agent.filters }
    if (after !== null && await feed.list(tenant, query) !== null) return after
    const start = after === null ? await feed.end(tenant) : await feed.endBefore(tenant, '2001-01-01T00:00:00.000Z')
    // Deliveries of its subscription, which continues where it is, can move the agent's position past earlier events.
    const { startSeq = 0 } = this.#model.webhooks.get(agent.webhookId ?? 0)?.agent ?? {}
    const since = Math.max(startSeq, Number(/\d+$/.exec(start)?.[0]))
    Object.assign(agent, { position: start, since, ended, polled: new Set() })
    return start
  }

  /** Subscribes, returns, or refreshes. */
  async #subscribe (
    agent: AgentClient, { feed, subscriptions }: Pick<Required<EventStorage>, 'feed' | 'subscriptions'>, ttl: number
  ): Promise<void> {
    if (agent.isBusy) return
    agent.isBusy = true
    this.#followRename(agent)
    const { id, tenant, principal, url: targetUrl, type: eventType, filters } = agent
    try {
      const live = await subscriptions.find(tenant, id)
      const start = await this.#resume(agent, feed)
      const webhookId = live?.subscription.webhook_id ?? await this.#storage.webhooks.nextId(tenant)
      const secret = `whsec_${Buffer.from(`${id} of ${principal}, a secret`).toString('base64')}`
      const stored = await subscriptions.put(tenant, {
        id,
        webhookId,
        tenantSlug: tenant,
        principal,
        targetUrl,
        eventType,
        filters,
        secret,
        // A refresh that is late must not create a subscription with the id of the one that ended.
        position: live === null ? start : null,
        ttlSeconds: ttl,
        gracePeriodSeconds: 0,
        isVerified: true
      }, { perTenant: 20, perPrincipal: 20 })
      if (typeof stored === 'object') agent.webhookId = stored.subscription.webhook_id
    } finally {
      agent.isBusy = false
    }
  }

  async #poll (agent: AgentClient, feed: EventFeed, random: Random): Promise<void> {
    if (agent.isBusy || agent.position === null) return
    agent.isBusy = true
    this.#followRename(agent)
    const { tenant, type, filters } = agent
    try {
      const after = await this.#resume(agent, feed)
      const query = { after, limit: random.pick([1, 5, 50]), eventTypes: [type], filters }
      const page = await feed.list(tenant, query)
      if (page === null) return
      for (const body of page.bodies) agent.polled.add((JSON.parse(body) as { id: string }).id)
      agent.position = page.position
    } finally {
      agent.isBusy = false
    }
  }

  /** Keeps the cursor of the last delivery that an agent accepted. */
  #keepCursor ({ request, result }: Sent): void {
    const agent = this.#agents.find(({ url }) => url === request.url)
    if (agent === undefined || result?.error !== null) return
    const { cursor } = JSON.parse(request.body) as { cursor: string }
    const [position] = JSON.parse(Buffer.from(cursor.split('.')[0] ?? '', 'base64url').toString()) as [string]
    this.#followRename(agent)
    agent.position = position
  }

  /** Adds the deliveries that `fill` has queued to the model. */
  async #addFilled (): Promise<void> {
    const sort = [{ field: 'id', direction: 'asc' }] as const
    const found: Array<{ webhook: Webhook, row: { id: number, event_id: string } }> = []
    for (const webhook of this.#model.webhooks.values()) {
      if (webhook.agent === null || webhook.isDeleted) continue
      const query = { filter: {}, sort, offset: 0, limit: 10_000 }
      const rows = await this.#storage.deliveries.list(webhook.tenant, webhook.id, query)
      for (const row of rows) found.push({ webhook, row })
    }
    this.#check(() => {
      for (const { webhook, row } of found.sort((one, other) => one.row.id - other.row.id)) {
        this.#model.addFilled(webhook, [row])
      }
    })
  }

  /** All agents return. Each gets what it has missed. */
  async #assertAgents (): Promise<void> {
    for (const agent of this.#agents) {
      agent.isBusy = false
      const [server] = this.#running()
      if (agent.webhookId === null || server === undefined) continue
      this.#subscribe(agent, this.#connect(server, this.#random), 86_400).catch((error: unknown) => {
        // Its tenant was removed.
        if (!(error instanceof RecruitingApiError)) this.world.fail(error)
      })
    }
    do await this.world.runUntil(this.world.time + 3 * this.#pollMs)
    while (this.#model.pending.size > 0)
    const { events, webhooks, deliveries, endedFeeds } = this.#model
    for (const agent of this.#agents) {
      const own = webhooks.get(agent.webhookId ?? 0)
      if (own === undefined || own.agent === null || (endedFeeds.get(agent.tenant) ?? 0) !== agent.ended) continue
      const ended = new Set([...deliveries.values()]
        .filter(({ webhook, status }) => webhook.url === agent.url && status !== 'pending' && status !== 'cancelled')
        .map(({ event }) => event))
      const skipped = [...webhooks.values()].filter(({ url }) => url === agent.url)
        .map((webhook) => webhook.agent?.skippedSeq ?? 0)
      const startSeq = Math.max(agent.since, ...skipped)
      const owed = this.#model.listOwed({ ...own, agent: { ...own.agent, startSeq } })
      const missed = owed.find((event) => !ended.has(event) && !agent.polled.has(event.id) && events.has(event.id))
      if (missed !== undefined) throw new Violation(`the agent ${agent.id} never got ${missed.id}`)
    }
  }

  #emit (
    { engine, machine }: Server,
    tenantSlug: string,
    random: Random,
    name: string,
    call: (answer: Promise<unknown>) => void
  ): void {
    const id = random.integer(1, 4)
    const event = {
      tenantSlug,
      type: random.pick(types),
      data: { id, job_id: random.integer(1, 3) },
      ...(random.chance(0.7) ? { subject: `candidate:${id}` } : {}),
      ...(random.chance(0.2) ? { idempotencyKey: `key-${random.integer(1, 1000)}` } : {})
    }
    const transaction = name === 'emit' ? undefined : new Transaction()
    const emitted = engine.recruiting.emit(event as never, transaction === undefined ? {} : { transaction })
    call(
      emitted.then(({ id: eventId }) => {
        if (transaction === undefined) {
          if (!this.#model.events.has(eventId) && this.#model.endedFeeds.size === 0) {
            throw new Violation(`emit returned ${eventId}, which is not recorded`)
          }
          return
        }
        if (random.chance(0.4)) return
        // The commit takes a moment, then applies all effects at once.
        this.world.after(random.integer(0, 50), () => {
          if (machine.state === 'dead') return
          for (const effect of transaction.effects) effect().catch(() => {})
        })
      })
    )
  }

  #newUrl (random: Random): string {
    const url = `https://receiver-${++this.#urlCount}.example.com/`
    this.network.setMood(url, random.chance(0.6) ? 'healthy' : random.weighted(moods))
    return url
  }

  #newTenant (): string {
    return `tenant-${++this.#tenantCount}`
  }

  #replaceTenant (old: string, next: string): void {
    this.#tenants[this.#tenants.indexOf(old)] = next
    this.#readers.push({ tenant: next, position: null, ended: 0, ids: [], isBusy: false })
  }

  #close (server: Server): void {
    const { machine, engine } = server
    machine.isClosing = true
    this.#stop(server)
    const startedAt = this.world.time
    engine.close().then(
      () =>
        this.#check(() => {
          if (machine.troubledAt < startedAt) this.#model.assertReleased(machine)
          if (machine.timerCount > 0) throw new Violation(`${machine.name} closed with ${machine.timerCount} timers`)
        }),
      (error: unknown) => this.world.fail(error)
    )
  }

  // Promises about time.

  /** In calm weather, a delivery to an idle webhook is claimed immediately, not by the next poll. */
  #expectPromptClaims (): void {
    this.#model.onPending = (delivery) => {
      this.world.after(5000, () => {
        if (!this.#isForgotten(delivery)) return
        // A slot may have just become free.
        this.world.after(1000, () => {
          if (!this.#isForgotten(delivery)) return
          throw new Violation(`delivery ${delivery.id} waits although nothing else of its tenant is due`)
        })
      })
    }
  }

  #isForgotten (delivery: Delivery): boolean {
    const { status, claim, webhook, dueAt } = delivery
    if (this.#model.suspended.has(webhook.tenant)) return false
    if (status !== 'pending' || webhook.pausedUntil > 0 || webhook.failingSince !== null) return false
    // Or it waits in the server that has claimed it.
    const waitsIn = claim !== null && claim.isKnown && claim.sent === null ? claim.machine : null
    if (claim !== null && (waitsIn === null || waitsIn.inFlight === waitsIn.concurrency)) return false
    const isDueToo = (one: Delivery): boolean => one !== delivery && one.dueAt <= this.#storageNow() &&
      one.webhook.tenant === webhook.tenant
    if ([...this.#model.pending].some(isDueToo)) return false
    // Servers of an earlier environment send nothing.
    if (webhook.agent !== null && webhook.agent.expiresAt <= this.#storageNow()) return false
    if (dueAt > this.#storageNow() || this.#running().length === 0 || this.#environment !== null) return false
    if (this.#running().some(({ machine }) => machine.troubledAt > this.world.time - 120_000)) return false
    // Test notifications also take places. A tenant without any finds one while one is free.
    return webhook.status === 'active' && this.#running().some(({ machine }) => machine.inFlight < machine.concurrency)
  }

  /** A result is written soon after the storage works again. */
  #expectResult (sent: Sent): void {
    const { machine, result } = sent
    const boundMs = 3 * this.#pollMs + 10_000
    if (result?.error === 'aborted') return
    this.world.after(boundMs, () => {
      if (machine.state === 'dead' || machine.isClosing || this.#model.isWritten(sent)) return
      const isExcused = machine.state === 'suspended' || machine.troubledAt > this.world.time - boundMs
      if (isExcused || this.#weather.isDown) return this.#expectResult(sent)
      throw new Violation(`${machine.name} has not written a result for ${boundMs} ms, though the storage works`)
    })
  }

  // The feed.

  #readPage (reader: Reader, feed: EventFeed, random: Random): void {
    if (reader.isBusy) return
    reader.isBusy = true
    const { position: after, ended } = reader
    const endedNow = (): number => this.#model.endedFeeds.get(reader.tenant) ?? 0
    const endedBefore = endedNow()
    feed.list(reader.tenant, { after, limit: random.pick([1, 5, 50]), eventTypes: null }).then((page) =>
      this.#check(() => {
        if (page === null) {
          if (after !== null && endedNow() === ended) {
            throw new Violation(`the feed of ${reader.tenant} lost a position`)
          }
          Object.assign(reader, { position: null, ids: [] })
          return
        }
        if (after === null) Object.assign(reader, { ids: [], ended: endedBefore })
        for (const body of page.bodies) {
          const { id } = JSON.parse(body) as { id: string }
          if (reader.ids.includes(id)) throw new Violation(`the feed of ${reader.tenant} has ${id} twice`)
          reader.ids.push(id)
        }
        reader.position = page.position
      })
    )
      .catch(() => {})
      .finally(() => {
        reader.isBusy = false
      })
  }

  async #assertReaders (): Promise<void> {
    for (const reader of this.#readers) {
      reader.isBusy = false
      for (let pages = 0; pages < 200; pages++) {
        const before = reader.position
        this.#readPage(reader, this.#storage.feed, createRandom(pages))
        await this.world.runUntil(this.world.time + 1)
        if (reader.position === before && before !== null) break
      }
      const expected = [...this.#model.events.values()].filter(({ tenant }) => tenant === reader.tenant)
      const missing = expected.find(({ id }) => !reader.ids.includes(id))
      if (missing !== undefined) throw new Violation(`the feed of ${reader.tenant} does not contain ${missing.id}`)
    }
  }

  /** Reads all rows first, then only changes. */
  #sync (changes: ChangeSource, random: Random): void {
    const mirror = this.#mirror
    if (mirror.isBusy) return
    mirror.isBusy = true
    const read = async (): Promise<void> => {
      if (mirror.position === null) {
        const position = await changes.begin(atsTenant, 'candidate')
        mirror.ids = new Set(await this.#findCandidates(candidateIds))
        mirror.position = position
        return
      }
      const query = { after: mirror.position, limit: random.pick([1, 5, 50]) }
      const page = await changes.list(atsTenant, 'candidate', query)
      if (page === null) throw new Violation('sync lost its position')
      const found = await this.#findCandidates(page.ids.map(Number))
      for (const id of page.ids) mirror.ids.delete(id)
      for (const id of found) mirror.ids.add(id)
      mirror.position = page.position
    }
    read().catch((error: unknown) => {
      if (error instanceof Violation) this.world.fail(error)
    })
      .finally(() => {
        mirror.isBusy = false
      })
  }

  async #findCandidates (ids: readonly number[]): Promise<string[]> {
    const rows = await Promise.all(ids.map((id) => this.#storage.candidates.find(atsTenant, id)))
    return rows.flatMap((row) => (row === null ? [] : [String(row.id)]))
  }

  async #assertMirror (): Promise<void> {
    this.#mirror.isBusy = false
    for (let pages = 0; pages < 100; pages++) {
      this.#sync(this.#storage.changes, createRandom(pages))
      await this.world.runUntil(this.world.time + 1)
    }
    const copy = [...this.#mirror.ids].sort().join(' ')
    const expected = (await this.#findCandidates(candidateIds)).sort().join(' ')
    if (copy !== expected) throw new Violation(`sync has the candidates ${copy} instead of ${expected}`)
  }

  // The end of the run.

  /** Ends all faults, starts a server, and waits until no delivery is pending. */
  async #recover (): Promise<void> {
    Object.assign(this.#weather, clean)
    this.network.healAll()
    for (const { machine } of this.#servers) machine.resume()
    // A server without an environment delivers in any.
    this.#environment = null
    for (const tenant of this.#model.suspended) {
      await this.#storage.webhooks.resumeTenant(tenant, { pending: 'deliver' })
      this.#model.resume(tenant, 'deliver')
    }
    this.#startServer(this.#random)
    const endMs = this.world.time + 2 * dayMs
    while (this.#model.pending.size > 0 && this.world.time < endMs) {
      await this.world.runUntil(this.world.time + Math.max(this.#pollMs, 10_000))
    }
    const [stuck] = this.#model.pending
    if (stuck !== undefined) throw new Violation(`delivery ${stuck.id} of ${stuck.event.id} stays pending`)
    await this.world.runUntil(this.world.time + 2 * this.#pollMs + 100_000)
  }

  /** Compares the log with the model and with the requests that endpoints read. */
  async #assertLogs (): Promise<void> {
    const { webhooks, deliveries } = this.#model
    for (const { id, tenant, isDeleted } of webhooks.values()) {
      if (isDeleted) continue
      const sort = [{ field: 'id', direction: 'asc' }] as const
      const log = await this.#storage.deliveries.list(tenant, id, { filter: {}, sort, offset: 0, limit: 10_000 })
      const expected = [...deliveries.values()].filter(({ webhook }) => webhook.id === id)
      const show = (rows: Array<[number, string, string, number]>): string => JSON.stringify(rows)
      const logged = show(log.map((row) => [row.id, row.event_id, row.status, row.attempt_count]))
      const known = show(expected.map((row) => [row.id, row.event.id, row.status, row.attempts]))
      if (logged !== known) throw new Violation(`the log of webhook ${id} is ${logged} instead of ${known}`)
    }
    for (const { id, event, status } of deliveries.values()) {
      const arrived = this.network.receipts.some(
        (receipt) => receipt.eventId === event.id && receipt.status !== null && receipt.status < 300
      )
      if (status === 'delivered' && !arrived) throw new Violation(`delivery ${id} is delivered and never arrived`)
    }
    const unreported = [...this.#model.disabled].find(
      (id) => !this.#reported.has(id) && webhooks.get(id)?.isDeleted === false
    )
    if (unreported !== undefined) throw new Violation(`the host got no alert for the disabled webhook ${unreported}`)
  }

  async #closeAll (): Promise<void> {
    for (const server of [...this.#servers]) this.#close(server)
    await this.world.runUntil(this.world.time + 60_000)
  }
}

export function drawWebhook (random: Random, name: string, url: string): CreateWebhookInput {
  return {
    name,
    target_url: url,
    event_types: random.chance(0.7) ? types : [random.pick(types)],
    ...(random.chance(0.3) ? { filters: { 'data.job_id': [1, 2] } } : {}),
    ...(random.chance(0.1) ? { status: 'inactive' } : {})
  }
}

export function drawPatch (random: Random, url: string): UpdateWebhookInput {
  return random.pick([
    { status: 'active' as const },
    { status: 'inactive' as const },
    { target_url: url },
    { filters: null },
    { filters: { 'data.job_id': [2] } },
    { event_types: [random.pick(types)] },
    { event_types: [...types] }
  ])
}

function isTest ({ request }: Sent): boolean {
  return request.body.endsWith('"test":true}')
}

const silent = { info () {}, warn () {}, error () {} }

function describe (result: unknown): string {
  if (Array.isArray(result)) {
    return result.map((one: unknown) => (one as { deliveryId?: number }).deliveryId ?? '').join(',')
  }
  const { id, queued } = Object(result) as { id?: unknown, queued?: number }
  return String(id ?? queued ?? '')
}
