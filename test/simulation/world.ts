import { createHash } from 'node:crypto'
import type { Clock } from '../../src/core/ports/index.js'

/** A promise that was broken in a simulation. The message names it. */
export class Violation extends Error {}

interface Event {
  at: number
  order: number
  run: (() => void) | null
}

const startedAt = Date.UTC(2026, 0, 1)

/**
 * The time, timers and trace of a run. The simulated time jumps from one event to the next, once no promise has
 * anything left to do.
 */
export class World {
  /** Milliseconds since the start of the run. */
  time = 0
  steps = 0
  /** Number of injected faults. */
  faults = 0
  readonly #events: Event[] = []
  readonly #hash = createHash('sha256')
  readonly #names = new Map<string, string>()
  readonly #lines: string[] | null
  #order = 0
  failure: Error | null = null

  constructor (isTraced: boolean) {
    this.#lines = isTraced ? [] : null
  }

  /** Calls `run` after `delayMs`. Returns a function that cancels it. */
  after (delayMs: number, run: () => void): () => void {
    const event: Event = { at: this.time + Math.max(0, delayMs), order: this.#order++, run }
    push(this.#events, event)
    return () => { event.run = null }
  }

  /** Runs events until a time, or until one fails. */
  async runUntil (endMs: number): Promise<void> {
    await settle()
    while (this.failure === null) {
      const [next] = this.#events
      if (next === undefined || next.at > endMs) break
      pop(this.#events)
      if (next.run === null) continue
      this.time = next.at
      this.steps++
      const { run } = next
      next.run = null
      try {
        run()
      } catch (error) {
        this.fail(error)
      }
      await settle()
    }
    if (this.failure !== null) throw this.failure
    this.time = Math.max(this.time, endMs)
  }

  fail (error: unknown): void {
    this.failure ??= error instanceof Error ? error : new Error(String(error))
  }

  /** Adds a line to the trace. Replaces random ids by their order of appearance. */
  log (text: string): void {
    const line = `${this.time} ${text.replaceAll(/(?:evt_|msg_[a-z]+_)[0-9a-f]{32}/g, (id) => this.#nameOf(id))}`
    this.#hash.update(line)
    this.#lines?.push(line)
  }

  #nameOf (id: string): string {
    const name = this.#names.get(id) ?? `event${this.#names.size + 1}`
    this.#names.set(id, name)
    return name
  }

  /** Returns the digest of the trace, and closes the trace. */
  digest (): string {
    return this.#hash.digest('hex')
  }

  get trace (): readonly string[] {
    return this.#lines ?? []
  }
}

/** A computer that runs an engine. Tests can kill it, suspend it and set its clock. */
export class Machine {
  /** The simulated time of the last fault that excuses delays and repetitions. */
  troubledAt = Number.NEGATIVE_INFINITY
  /** Its limit of concurrent requests. */
  concurrency = 0
  /** Its requests in flight. */
  inFlight = 0
  isClosing = false
  readonly name: string
  readonly #world: World
  readonly #bootedAt: number
  readonly #timers = new Set<() => void>()
  #state: 'running' | 'suspended' | 'dead' = 'running'
  #waiting: Array<() => void> = []
  #setForwardMs = 0

  constructor (name: string, world: World) {
    this.name = name
    this.#world = world
    this.#bootedAt = world.time
  }

  get state (): 'running' | 'suspended' | 'dead' {
    return this.#state
  }

  get timerCount (): number {
    return this.#timers.size
  }

  /** Runs the callback of a timer or response: later if the machine is suspended, never if it is dead. */
  deliver (run: () => void): void {
    if (this.#state === 'running') run()
    else if (this.#state === 'suspended') this.#waiting.push(run)
  }

  kill (): void {
    this.#world.faults++
    this.#state = 'dead'
    this.#waiting = []
    for (const cancel of this.#timers) cancel()
    this.#timers.clear()
  }

  suspend (): void {
    if (this.#state === 'running') this.#state = 'suspended'
    this.trouble()
  }

  resume (): void {
    if (this.#state !== 'suspended') return
    this.#state = 'running'
    this.trouble()
    for (const run of this.#waiting) this.#world.after(0, () => this.deliver(run))
    this.#waiting = []
  }

  trouble (): void {
    this.#world.faults++
    this.troubledAt = this.#world.time
  }

  /** Sets the wall clock forward, or back if negative. */
  setClock (ms: number): void {
    this.#setForwardMs += ms
  }

  readonly clock: Clock = {
    now: () => startedAt + this.#world.time + this.#setForwardMs,
    monotonic: () => this.#world.time - this.#bootedAt,
    setTimeout: (callback, delayMs) => {
      const cancelEvent = this.#world.after(delayMs, () => {
        this.#timers.delete(cancel)
        this.deliver(callback)
      })
      const cancel = (): void => {
        this.#timers.delete(cancel)
        cancelEvent()
      }
      this.#timers.add(cancel)
      return cancel
    },
    clearTimeout: (cancel) => { (cancel as (() => void) | undefined)?.() }
  }

  /** Resolves at the current time, after all events that are already due. */
  nextTick (): Promise<void> {
    return new Promise((resolve) => { this.clock.setTimeout(resolve, 0) })
  }
}

// A macrotask starts when no promise has anything left to do.
function settle (): Promise<void> {
  return new Promise((resolve) => { setImmediate(resolve) })
}

function isBefore (one: Event, other: Event): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order)
}

/** Adds to a binary heap. */
function push (heap: Event[], event: Event): void {
  let at = heap.push(event) - 1
  while (at > 0) {
    const parent = (at - 1) >> 1
    const above = heap[parent] as Event
    if (!isBefore(event, above)) break
    heap[at] = above
    at = parent
  }
  heap[at] = event
}

/** Removes the first event of a binary heap. */
function pop (heap: Event[]): void {
  const last = heap.pop()
  if (last === undefined || heap.length === 0) return
  let at = 0
  for (;;) {
    let child = 2 * at + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && isBefore(heap[child + 1] as Event, heap[child] as Event)) child++
    if (!isBefore(heap[child] as Event, last)) break
    heap[at] = heap[child] as Event
    at = child
  }
  heap[at] = last
}
