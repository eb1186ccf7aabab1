import { hash, randomBytes } from 'node:crypto'
import { assertOption } from '../../../core/shared/read-options.js'
import type { DueListener } from '../../../core/ports/index.js'
import type { PgClient, PgPool } from '../pool.js'
import type { Session } from '../session.js'

/** Wakes the workers of this and other processes when deliveries may be due. */
export type Due = ReturnType<typeof createDue>

// Notifications within this time are sent as one.
const gatherMs = 20
// Most transactions have committed by then. Workers find the others by polling.
const commitMs = 250
// A worker that is slower than this does not keep the deliveries from others.
const answerOwnMs = 30
// Processes that hear of a delivery wait for a random time, so that one comes first: up to this long for each other one
// that was heard lately.
const spreadMs = 15
const longestSpreadMs = 1000
const rememberMs = 60_000
// PostgreSQL limits a notification to 8000 bytes.
const mostTokens = 200
const longestToken = 30

// How many of a pool's connections LISTEN keeps: one per storage.
const keptConnections = new WeakMap<PgPool, number>()

/** The schema's channel; `schema` is not quoted. */
export function channelOf (schema: string): string {
  return `fastify_recruiting_${hash('sha256', schema, 'hex').slice(0, 24)}`
}

/**
 * Uses `listen` and `notify`, with one channel per schema; `schema` is not quoted. The workers of this process come
 * first. A notification has a token and is sent for what they did not take. The first other process to take everything
 * sends `taken`, its own name and the tokens: its claim began after it heard them, so the rest need not claim.
 */
export function createDue (pool: PgPool, session: Session, schema: string) {
  const channel = channelOf(schema)
  const name = randomBytes(6).toString('hex')
  const listeners = new Set<{ call: DueListener, onFault?: ((error: unknown) => void) | undefined }>()
  const listening = createListening(pool, channel, {
    onNotification: hear,
    onLost (error) {
      for (const { onFault } of [...listeners]) onFault?.(error)
    }
  })
  const timers = new Map<string, NodeJS.Timeout>()
  let sent = 0
  const heard = new Set<string>()
  let answer = Promise.resolve(false)
  // When the processes that took deliveries were last heard, by name.
  const others = new Map<string, number>()

  /** Resolves to whether a listener took everything that was due. Never rejects. */
  async function callListeners (): Promise<boolean> {
    const answers = await Promise.allSettled([...listeners].map(async ({ call }) => call()))
    return answers.some((answer) => answer.status === 'fulfilled' && answer.value === true)
  }

  // Not in the host's transaction: commits that notify wait for each other across the whole database.
  function send (message: string): void {
    session.query('notify', 'select pg_notify($1, $2)', [channel, message]).catch(() => {
      // Workers poll.
    })
  }

  async function notifyUnlessTaken (): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(resolve, answerOwnMs, false).unref()
    })
    const isTaken = await Promise.race([answer, late])
    clearTimeout(timer)
    if (!isTaken) send(`${name}.${sent++}`)
  }

  function hear (payload = ''): void {
    const [first = '', other = '', ...tokens] = payload.split(' ')
    if (first === 'taken') {
      if (other === name) return
      others.set(other, performance.now())
      for (const token of tokens) heard.delete(token)
    } else if (!first.startsWith(name)) {
      // Notifications were missed before LISTEN took effect, or somebody else sent one.
      heard.add(first.length > longestToken ? '' : first)
      for (const [process, heardAt] of others) {
        if (performance.now() - heardAt > rememberMs) others.delete(process)
      }
      later('heard', Math.random() * Math.min(others.size * spreadMs, longestSpreadMs), takeHeard)
    }
  }

  async function takeHeard (): Promise<void> {
    if (heard.size === 0) return
    const tokens = [...heard].slice(0, mostTokens).filter((token) => token !== '')
    heard.clear()
    if (await callListeners() && tokens.length > 0) send(['taken', name, ...tokens].join(' '))
  }

  function later (key: string, delayMs: number, call: () => Promise<void>): void {
    if (timers.has(key)) return
    const timer = setTimeout(() => {
      timers.delete(key)
      call().catch(() => {
        // Workers poll.
      })
    }, delayMs)
    timers.set(key, timer.unref())
  }

  return {
    /** After a commit. */
    notify () {
      answer = callListeners()
      later('gather', gatherMs, notifyUnlessTaken)
    },
    /** After a statement in the host's transaction, whose commit cannot be observed. */
    notifyLater () {
      for (const delayMs of [gatherMs, commitMs]) {
        later(`commit ${delayMs}`, delayMs, () => {
          answer = callListeners()
          return notifyUnlessTaken()
        })
      }
    },
    onDue (listener: DueListener, onFault?: (error: unknown) => void) {
      if (listeners.size === 0) keepConnection(pool)
      const entry = { call: listener, onFault }
      listeners.add(entry)
      listening.start()
      return () => {
        if (!listeners.delete(entry) || listeners.size > 0) return
        listening.stop()
        freeConnection(pool)
      }
    }
  }
}

/** Throws `invalid_option` if LISTEN would leave no connection for queries. */
function keepConnection (pool: PgPool): void {
  const kept = (keptConnections.get(pool) ?? 0) + 1
  const max = Number(pool.options?.max ?? Infinity)
  assertOption(
    max > kept, 'pool',
    `${kept + 1} connections or more, because LISTEN keeps ${kept} of them, one for each storage that delivers`,
    max
  )
  keptConnections.set(pool, kept)
}

function freeConnection (pool: PgPool): void {
  keptConnections.set(pool, Number(keptConnections.get(pool)) - 1)
}

const firstPauseMs = 500
const longestPauseMs = 15_000
const keepAliveMs = 30_000
const answerMs = 10_000

/**
 * Tests the connection regularly, and replaces a broken one after a pause that doubles with each failure. `onLost` is
 * called once per interruption.
 */
export function createListening (
  pool: PgPool, channel: string,
  { onNotification, onLost }: { onNotification: (payload?: string) => void, onLost: (error: unknown) => void }
) {
  // Each start has its own symbol. Callbacks of an earlier start do nothing.
  let current: symbol | null = null
  let client: PgClient | null = null
  let timer: NodeJS.Timeout | undefined
  let isLost = false

  function hear (notification?: unknown): void {
    onNotification((notification as { payload?: string } | undefined)?.payload)
  }

  async function connect (run: symbol, pauseMs: number): Promise<void> {
    try {
      const taken = await pool.connect()
      if (current !== run) return taken.release()
      client = taken
      await listen(taken, run)
    } catch (error) {
      drop(run, error, Math.min(pauseMs * 2, longestPauseMs))
    }
  }

  async function listen (taken: PgClient, run: symbol): Promise<void> {
    // The driver does not support notifications: workers poll.
    if (taken.on === undefined) {
      client = null
      return taken.release()
    }
    taken.on('error', (error) => drop(run, error))
    taken.on('end', () => drop(run, new Error('the connection has ended')))
    taken.on('notification', hear)
    await taken.query(`listen "${channel}"`)
    if (current !== run) return
    isLost = false
    // Notifications sent before LISTEN took effect were missed.
    onNotification()
    later(keepAliveMs, run, () => keepAlive(taken, run))
  }

  async function keepAlive (taken: PgClient, run: symbol): Promise<void> {
    later(answerMs, run, async () => drop(run, new Error('the server does not answer')))
    try {
      // Repeats the statement, so that pg_stat_activity shows who listens.
      await taken.query(`listen "${channel}"`)
      if (current === run) later(keepAliveMs, run, () => keepAlive(taken, run))
    } catch (error) {
      drop(run, error)
    }
  }

  function drop (run: symbol, error: unknown, pauseMs = firstPauseMs): void {
    if (current !== run) return
    later(pauseMs, run, () => connect(run, pauseMs))
    closeClient()
    if (isLost) return
    isLost = true
    onLost(error)
  }

  function later (delayMs: number, run: symbol, call: () => Promise<void>): void {
    clearTimeout(timer)
    timer = setTimeout(() => own(run, call()), delayMs).unref()
  }

  /** Connects again if this promise, which nobody awaits, rejects. */
  function own (run: symbol, detached: Promise<void>): void {
    detached.catch((error: unknown) => drop(run, error)).catch(() => {})
  }

  function closeClient (): void {
    const taken = client
    client = null
    taken?.removeListener?.('notification', hear)
    taken?.release(true)
  }

  return {
    start () {
      if (current !== null) return
      const run = Symbol('listening')
      current = run
      own(run, connect(run, firstPauseMs))
    },
    /** Closes the connection immediately, so that the host can end its pool. */
    stop () {
      current = null
      clearTimeout(timer)
      closeClient()
    }
  }
}
