import type { ServerResponse } from 'node:http'
import { setImmediate as nextPoll, setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type pg from 'pg'
import { createRecruiting, isRecruitingApiError } from '../../src/index.js'
import { watch } from '../../src/storages/postgres/index.js'
import { kill, startProcess } from '../fixtures/crash/crash.js'
import { silentLogger } from '../fixtures/delivery/silent-logger.js'
import { startPostgresServerHost } from '../fixtures/postgres/postgres.js'
import { type Answer, startReceiver } from '../fixtures/receivers/receiver.js'
import { isSigned } from '../simulation/network.js'
import { createRandom } from '../simulation/random.js'
import { drawPatch, drawWebhook, events, types, weights } from '../simulation/simulate.js'
import { pickSeed } from '../sync/proof/seed.js'

const seconds = Number(process.env.SECONDS ?? 60)
const tenants = ['acme', 'globex']
const operations = [
  'emit',
  'emitInTransaction',
  'create',
  'patch',
  'rotate',
  'delete',
  'replay',
  'retry',
  'erase',
  'prune',
  'saveCandidate',
  'readFeed',
  'readSync',
  'changeMood'
] as const
const moods = { healthy: 6, slow: 1, error: 1, resets: 1 }
const workerCount = 2
/** Each worker's concurrency, as set by the program. */
const concurrency = 16
const crashes = 2
/** The engine's defaults, and the program's `leaseMs`. */
const perEndpoint = 4
const leaseMs = 5500
/** An attempt that began before a change may arrive this much later. */
const flightMs = 2500

/** A webhook between two changes. The row is `undefined` before it is created and after it is deleted. */
interface State {
  /** When the change that caused this state began and returned, and the same for the next change. */
  begunAt: number
  answeredAt: number
  nextBegunAt: number
  nextAnsweredAt: number
  row: WebhookRow | undefined
}

interface WebhookRow {
  id: string
  status: string
  target_url: string
  event_types: string[]
  filters: Record<string, number[]> | null
  secret: string
  previous_secret: string | null
}

interface Hook {
  name: string
  tenant: string
  isBusy: boolean
  states: State[]
}

interface Request {
  at: number
  url: string
  name: string
  headers: Record<string, string>
  body: string
  isAccepted: boolean
}

interface StoredEvent {
  seq: string
  id: string
  type: string
  tenant: string
  subject: string
  data: { id: number, job_id: number } | null
  idempotency_key: string | null
}

t.setTimeout(0)

t.test(
  `${seconds} s of changes, failing endpoints, killed workers and ${crashes} crashes of PostgreSQL: all promises hold`,
  { timeout: (seconds + 600) * 1000 },
  async (t) => {
    const { server, pool, storage } = await startPostgresServerHost(t, {
      settings: ['fsync=on', 'synchronous_commit=on']
    })
    pool.on('error', () => {})
    await watch(pool, 'recruiting.candidates', { kind: 'candidate', id: 'id', tenant: 'tenant_slug' })
    const seed = pickSeed(t)
    const random = createRandom(seed)
    const recruiting = createRecruiting({
      storage,
      events: events as never,
      logger: silentLogger,
      delivery: { worker: false, allowHttp: true, allowNetworks: ['127.0.0.1/32'] }
    })
    t.teardown(() => recruiting.close())

    const requests: Request[] = []
    const receivers = await Promise.all(Array.from({ length: 3 }, () => startReceiver(t)))
    const moodOf = receivers.map((): keyof typeof moods => 'healthy')
    for (const [index, { answer, port }] of receivers.entries()) {
      answer(receive(port, () => moodOf[index] ?? 'healthy'))
    }
    const hooks: Hook[] = []
    /** When committed events were emitted and when emit returned, by id. */
    const emitted = new Map<string, { from: number; to: number }>()
    const rolledBack = new Set<string>()
    const keys: string[] = []
    const erased: Array<{ tenant: string; subject: string; begunAt: number; answeredAt: number }> = []
    const readers = tenants.map((tenant) => ({
      tenant,
      after: null as string | null,
      ids: [] as string[],
      isBusy: false
    }))
    const copy = { after: null as string | null, names: new Map<string, string>(), isBusy: false }
    let saved = 0
    const open = new Map<string, Set<ServerResponse>>()
    let mostTogether = 0
    let lostUntil = 0

    function receive (port: number, mood: () => keyof typeof moods): Answer {
      return async (response, { path, headers, body }) => {
        const name = path.slice(1)
        const url = `http://127.0.0.1:${port}${path}`
        const request: Request = {
          at: Date.now(),
          url,
          name,
          headers: headers as Record<string, string>,
          body,
          isAccepted: false
        }
        requests.push(request)
        countTogether(name, response).catch((error) => t.fail(error))
        const current = mood()
        if (current === 'resets') return response.destroy()
        if (current === 'error') return response.writeHead(random.pick([400, 500, 502])).end()
        if (current === 'slow') await sleep(random.integer(50, 700))
        // The worker has timed out.
        if (response.destroyed) return
        request.isAccepted = true
        response.writeHead(204).end()
      }
    }

    /** Counts the requests to a webhook at one time. A killed worker's connections take a moment to close. */
    async function countTogether (name: string, response: ServerResponse): Promise<void> {
      const running = open.get(name) ?? new Set()
      open.set(name, running.add(response))
      response.on('close', () => running.delete(response))
      const together = [...running]
      await sleep(100)
      // After a pause of this process, timers run before closed connections are noticed.
      await nextPoll()
      const count = together.filter((one) => one === response || running.has(one)).length
      // A crash of PostgreSQL can lose the last claims, whose deliveries are then claimed again.
      if (Date.now() > lostUntil) mostTogether = Math.max(mostTogether, count)
    }

    /** Changes a webhook, then reads its state, since the response may have been lost. */
    async function change (hook: Hook, run: () => Promise<unknown>): Promise<void> {
      if (hook.isBusy) return
      hook.isBusy = true
      const begunAt = Date.now()
      await survive(run)
      const {
        rows: [row]
      } = await untilAnswered(() =>
        pool.query<WebhookRow>('select * from recruiting.webhooks where name = $1', [hook.name])
      )
      const answeredAt = Date.now()
      const last = hook.states.at(-1)
      if (last !== undefined) Object.assign(last, { nextBegunAt: begunAt, nextAnsweredAt: answeredAt })
      hook.states.push({ begunAt, answeredAt, nextBegunAt: Infinity, nextAnsweredAt: Infinity, row })
      hook.isBusy = false
    }

    function drawEvent (): { tenantSlug: string; type: never; subject: string; data: never } {
      const id = random.integer(1, 40)
      const data = { id, job_id: random.integer(1, 3) }
      return {
        tenantSlug: random.pick(tenants),
        type: random.pick(types) as never,
        subject: `candidate:${id}`,
        data: data as never
      }
    }

    async function emitInTransaction (): Promise<void> {
      const client = await pool.connect()
      client.on('error', () => {})
      let isDone = false
      try {
        const from = Date.now()
        await client.query('begin')
        const { id } = await recruiting.emit(drawEvent(), { transaction: client })
        await sleep(random.integer(0, 100))
        const isKept = random.chance(0.6)
        if (!isKept) rolledBack.add(id)
        await client.query(isKept ? 'commit' : 'rollback')
        if (isKept) emitted.set(id, { from, to: Date.now() })
        isDone = true
      } finally {
        client.release(!isDone)
      }
    }

    async function readFeed (reader: (typeof readers)[number], limit: number): Promise<boolean> {
      const page = await storage.feed.list(reader.tenant, { after: reader.after, limit, eventTypes: null })
      if (page === null) throw new Error(`the feed of ${reader.tenant} lost its position`)
      for (const body of page.bodies) reader.ids.push((JSON.parse(body) as { id: string }).id)
      reader.after = page.position
      return page.hasMore
    }

    async function readSync (limit: number): Promise<boolean> {
      const page =
        copy.after === null ? null : await storage.changes.list('acme', 'candidate', { after: copy.after, limit })
      if (page === null && copy.after !== null) throw new Error('sync lost its position')
      const after = page?.position ?? (await storage.changes.begin('acme', 'candidate'))
      const names = await readCandidates(pool)
      for (const id of page?.ids ?? names.keys()) {
        const name = names.get(id)
        if (name === undefined) copy.names.delete(id)
        else copy.names.set(id, name)
      }
      copy.after = after
      return page?.hasMore ?? true
    }

    async function alone (reader: { isBusy: boolean }, read: () => Promise<unknown>): Promise<void> {
      if (reader.isBusy) return
      reader.isBusy = true
      await read().finally(() => {
        reader.isBusy = false
      })
    }

    function addHook (): Promise<void> {
      const hook: Hook = { name: `hook-${hooks.length}`, tenant: random.pick(tenants), isBusy: false, states: [] }
      hooks.push(hook)
      return change(hook, () =>
        recruiting.webhooks.create(hook.tenant, drawWebhook(random, hook.name, drawUrl(hook.name)))
      )
    }

    function drawUrl (name: string): string {
      return `http://127.0.0.1:${random.pick(receivers).port}/${name}`
    }

    async function take (): Promise<unknown> {
      const living = hooks.filter(({ states }) => states.at(-1)?.row !== undefined)
      const hook = random.pick(living)
      const id = Number(hook?.states.at(-1)?.row?.id)
      const { webhooks } = recruiting
      const name = random.weighted(chosenWeights)
      if (hook === undefined) return addHook()
      switch (name) {
        case 'emit': {
          const key = `key-${keys.length}`
          keys.push(key)
          const event = { ...drawEvent(), idempotencyKey: key }
          const from = Date.now()
          const { id: eventId } = await untilAnswered(() => recruiting.emit(event))
          return emitted.set(eventId, { from, to: Date.now() })
        }
        case 'emitInTransaction':
          return emitInTransaction()
        case 'create':
          return living.length < 10 ? addHook() : undefined
        case 'patch':
          return change(hook, () => webhooks.update(hook.tenant, id, drawPatch(random, drawUrl(hook.name))))
        case 'rotate':
          return change(hook, () =>
            webhooks.rotateSecret(hook.tenant, id, { grace_period_seconds: random.pick([0, 60]) })
          )
        case 'delete':
          return change(hook, () => webhooks.delete(hook.tenant, id))
        case 'replay': {
          const since = new Date(Date.now() - 3000).toISOString()
          return webhooks.replay(hook.tenant, id, { include: random.pick(['undelivered', 'all'] as const), since })
        }
        case 'retry': {
          const { rows } = await pool.query('select id from recruiting.deliveries where webhook_id = $1 limit 50', [id])
          return rows.length === 0 ? undefined : webhooks.retryDelivery(hook.tenant, id, Number(random.pick(rows).id))
        }
        case 'erase': {
          const erasure = {
            tenant: random.pick(tenants),
            subject: `candidate:${random.integer(1, 40)}`,
            begunAt: Date.now(),
            answeredAt: Infinity
          }
          erased.push(erasure)
          await recruiting.erase({ tenantSlug: erasure.tenant, subject: erasure.subject })
          erasure.answeredAt = Date.now()
          return
        }
        case 'prune':
          return recruiting.prune()
        case 'saveCandidate': {
          const [sql, values] = random.chance(0.3)
            ? ['delete from recruiting.candidates where tenant_slug = $1 and id = $2', []]
            : [
                `insert into recruiting.candidates (tenant_slug, id, full_name, created_at, updated_at) values ($1, $2, $3, now(), now())
              on conflict (tenant_slug, id) do update set full_name = excluded.full_name`,
                [`Name ${++saved}`]
              ]
          return pool.query(sql, ['acme', random.integer(1, 30), ...values])
        }
        case 'readFeed': {
          const reader = random.pick(readers)
          return alone(reader, () => readFeed(reader, random.pick([1, 5, 50])))
        }
        case 'readSync':
          return alone(copy, () => readSync(random.pick([1, 5, 50])))
        case 'changeMood':
          moodOf[random.integer(0, moodOf.length - 1)] = random.weighted(moods)
      }
    }

    // The run.

    for (let count = 0; count < 5; count++) await addHook()
    const workers = Array.from({ length: workerCount }, () => startProcess(t, 'crash-worker', server.url))
    const endsAt = Date.now() + seconds * 1000
    const acting = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (Date.now() < endsAt) {
          await survive(take)
          await sleep(random.integer(0, 100))
        }
      })
    )
    let kills = 0
    let crashed = 0
    while (Date.now() < endsAt) {
      await sleep(random.integer(500, 3000))
      const [worker] = workers.splice(0, 1)
      if (worker !== undefined) await kill(worker)
      kills++
      if (crashed < crashes && endsAt - Date.now() < seconds * 1000 * (1 - (crashed + 1) / (crashes + 1))) {
        crashed++
        lostUntil = Infinity
        await server.stop('immediate')
        await sleep(random.integer(0, 1000))
        await server.start()
        lostUntil = Date.now() + leaseMs
      }
      workers.push(startProcess(t, 'crash-worker', server.url))
    }
    await acting
    moodOf.fill('healthy')
    const drainedBy = Date.now() + 180_000
    const left = async (): Promise<number> =>
      Number((await pool.query('select count(*) from recruiting.queue')).rows[0].count)
    while ((await left()) > 0 && Date.now() < drainedBy) await sleep(500)
    t.equal(await left(), 0, 'every delivery finishes')
    t.ok(mostTogether <= perEndpoint, `at most ${perEndpoint} requests to a webhook at once, not ${mostTogether}`)
    t.equal(mostTogether, perEndpoint, 'the limit was reached')
    for (const reader of readers) while (await readFeed(reader, 50));
    while (await readSync(50));

    // The final state of the database, the receivers and the readers.

    const { rows: stored } = await pool.query<StoredEvent>(`
    select seq, id, type, tenant_key as tenant, subject, body::json -> 'data' as data, idempotency_key from recruiting.events order by seq`)
    const { rows: log } = await pool.query<{ hook: string; seq: string; status: string; attempts: number }>(`
    select webhook_id as hook, event_seq as seq, status, coalesce(jsonb_array_length(earlier), 0) + 1 as attempts from recruiting.deliveries`)
    const eventOf = new Map(stored.map((event) => [event.id, event]))
    const logOf = groupBy(log, ({ hook, seq }) => `${hook} ${seq}`)
    const accepted = groupBy(
      requests.filter(({ isAccepted }) => isAccepted),
      ({ name, headers }) => `${name} ${headers['webhook-id']}`
    )
    const erasedAt = new Map(
      stored.map(({ id, tenant, subject }) => {
        const { to } = emitted.get(id) ?? { to: Infinity }
        const own = erased.filter((one) => one.tenant === tenant && one.subject === subject && to < one.begunAt)
        return [id, Math.min(...own.map(({ answeredAt }) => answeredAt))]
      })
    )
    const problems: string[] = []

    for (const id of emitted.keys()) if (!eventOf.has(id)) problems.push(`the committed event ${id} is lost`)
    for (const { id, data } of stored) {
      if (data !== null && erasedAt.get(id) !== Infinity) problems.push(`the event ${id} was not erased`)
    }
    for (const id of rolledBack) if (eventOf.has(id)) problems.push(`the event ${id} was rolled back and is stored`)
    const storedKeys = stored.flatMap(({ idempotency_key: key }) => key ?? [])
    if (new Set(storedKeys).size !== storedKeys.length) problems.push('an idempotency key has two events')

    let repeats = 0
    for (const { name, tenant, states } of hooks) {
      const hook = states.find(({ row }) => row !== undefined)?.row?.id ?? ''
      const isEverInactive = states.some(({ row }) => row?.status === 'inactive')
      const isDeleted = states.at(-1)?.row === undefined
      for (const event of stored) {
        const rows = logOf.get(`${hook} ${event.seq}`) ?? []
        const times = emitted.get(event.id)
        const state = states.find(
          ({ answeredAt, nextBegunAt }) => times !== undefined && answeredAt < times.from && times.to < nextBegunAt
        )
        const isErased = event.data === null
        const where = `${event.id} to ${name}, logged as ${rows.map(({ status, attempts }) => `${status} after ${attempts}`).join(', ')},`
        if (
          !isErased &&
          event.tenant === tenant &&
          state?.row !== undefined &&
          isWanted(event, state.row) &&
          rows.length === 0
        ) {
          problems.push(`${where} has no delivery`)
        }
        const delivered = rows.filter(({ status }) => status === 'delivered')
        const arrived = accepted.get(`${name} ${event.id}`) ?? []
        if (delivered.length > arrived.length) problems.push(`${where} arrived ${arrived.length} times`)
        if (delivered.length === rows.length) repeats += arrived.length - delivered.length
        for (const { status, attempts } of rows) {
          const isExplained =
            status === 'delivered' ||
            (status === 'failed' && attempts === 100) ||
            (status === 'skipped' && isEverInactive) ||
            (status === 'cancelled' && (isDeleted || isErased))
          if (!isExplained) problems.push(`${where} has no reason`)
        }
      }
    }
    const repeatable = (kills + crashed * workerCount) * concurrency
    if (repeats > repeatable) problems.push(`${repeats} repeated requests instead of at most ${repeatable}`)

    for (const { at, url, name, headers, body } of requests) {
      const event = eventOf.get(String(headers['webhook-id']))
      const hook = hooks.find((one) => one.name === name)
      const where = `${headers['webhook-id']} arrived at ${url} ${at}`
      if (event === undefined || hook === undefined) {
        problems.push(`${where} and is not stored`)
        continue
      }
      if (event.tenant !== hook.tenant) problems.push(`${where} and belongs to ${event.tenant}`)
      if (!hook.states.some(({ row }) => row?.event_types.includes(event.type))) {
        problems.push(`${where}, which never wanted ${event.type}`)
      }
      const possible = hook.states.filter(
        ({ row, begunAt, nextAnsweredAt }) =>
          row?.status === 'active' && row.target_url === url && begunAt <= at && at <= nextAnsweredAt + flightMs
      )
      if (possible.length === 0) problems.push(`${where}, which was not active there`)
      const isVerified = possible.some(
        ({ row }) =>
          row !== undefined &&
          [[row.secret], [row.secret, ...(row.previous_secret === null ? [] : [row.previous_secret])]].some((secrets) =>
            isSigned({ headers, body }, secrets)
          )
      )
      if (possible.length > 0 && !isVerified) problems.push(`${where}, signed with a secret that was not valid`)
      const { data } = JSON.parse(body) as { data: object | null }
      if (data !== null && at > (erasedAt.get(event.id) ?? 0) + flightMs) problems.push(`${where} with erased data`)
    }

    for (const { tenant, ids } of readers) {
      const expected = stored.filter((event) => event.tenant === tenant).map(({ id }) => id)
      if (ids.join() !== expected.join()) {
        problems.push(`the reader of ${tenant} has ${ids.length} events instead of ${expected.length}`)
      }
    }
    t.strictSame(copy.names, await readCandidates(pool), 'sync ends with all candidates')
    t.strictSame(problems.slice(0, 20), [], `${problems.length} promises are broken`)
    t.equal(crashed, crashes)
    t.comment(
      `${stored.length} events, ${log.length} deliveries, ${requests.length} requests, ${kills} kills, ${repeats} repeats, ${hooks.length} webhooks`
    )
  }
)

const chosenWeights = Object.fromEntries(operations.map((name) => [name, weights[name]])) as Record<
  (typeof operations)[number],
  number
>

function isWanted ({ type, data }: StoredEvent, { event_types: wanted, filters }: WebhookRow): boolean {
  return wanted.includes(type) && (filters === null || (filters['data.job_id'] ?? []).includes(data?.job_id ?? 0))
}

async function readCandidates (pool: pg.Pool): Promise<Map<string, string>> {
  const { rows } = await pool.query<{ id: string; full_name: string }>(
    "select id, full_name from recruiting.candidates where tenant_slug = 'acme' order by id"
  )
  return new Map(rows.map(({ id, full_name: name }) => [id, name]))
}

function isConnectionLost (error: unknown): boolean {
  const { code = '', message = '' } = error as { code?: string, message?: string }
  return /^57P|terminat|ECONN|EPIPE|timeout|connection/i.test(`${code} ${message}`)
}

/** Runs a call that a crash of the server or another change may prevent. */
async function survive (run: () => Promise<unknown>): Promise<void> {
  try {
    await run()
  } catch (error) {
    if (!isRecruitingApiError(error) && !isConnectionLost(error)) throw error
  }
}

async function untilAnswered<Result> (run: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await run()
    } catch (error) {
      if (!isConnectionLost(error)) throw error
      await sleep(50)
    }
  }
}

function groupBy<Item> (items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) groups.set(keyOf(item), [...groups.get(keyOf(item)) ?? [], item])
  return groups
}
