import type { Clock } from '../ports/index.js'
import { withinTime } from './clock.js'
import { assertOption, type Limit, isWithin } from './read-options.js'

interface LimitOptions {
  path: string
  minimum: number
  maximum: number
  clock: Clock
}

const cachedMs = 60_000

const timeoutMs = 5000

const maxCached = 10_000

/**
 * Returns a function that reads a limit and caches it by name for a minute from the start of the call. Failures are not
 * cached. It rejects if the host's function throws, takes longer than 5 seconds or returns no integer in the range.
 */
export function createCachedLimit<Of> (
  limit: Limit<Of>, { path, minimum, maximum, clock }: LimitOptions
): (name: string, of: Of) => Promise<number> {
  if (typeof limit === 'number') return async () => limit
  const cache = createCallCache<number>({ ttlMs: cachedMs, clock })
  const ask = limit

  async function read (of: Of): Promise<number> {
    const value = await withinTime(call(of), timeoutMs, clock, path)
    assertOption(
      isWithin(value, minimum, maximum), path,
      `a function that returns an integer from ${minimum} to ${maximum}`, value
    )
    return value
  }

  // Wraps errors: the host may throw an `HttpError`, which would otherwise reach the client.
  async function call (of: Of): Promise<number> {
    try {
      return await ask(of)
    } catch (cause) {
      throw new Error(`${path}: the function failed`, { cause })
    }
  }

  return (name, of) => cache.call(name, () => read(of))
}

interface CachedCall<Value> {
  promise: Promise<Value>
  /** `null` until it is known. */
  value: Value | null
  expiresAtMs: number
}

/**
 * Caches the results of calls by name, for `ttlMs` from the start of the call. Concurrent calls share one. Failures and
 * `null` are not cached.
 */
export function createCallCache<Value> ({ ttlMs, clock }: { ttlMs: number, clock: Pick<Clock, 'monotonic'> }) {
  let calls = new LruMap<CachedCall<Value>>(maxCached)

  function find (name: string): CachedCall<Value> | undefined {
    const known = calls.get(name)
    return known !== undefined && clock.monotonic() < known.expiresAtMs ? known : undefined
  }

  return {
    call (name: string, ask: () => Promise<Value>): Promise<Value> {
      const known = find(name)
      if (known !== undefined) return known.promise
      const expiresAtMs = clock.monotonic() + ttlMs
      const entry: CachedCall<Value> = { promise: ask(), value: null, expiresAtMs }
      const current = calls
      current.set(name, entry)
      const end = (value: Value | null): void => {
        entry.value = value
        if (value === null && current.get(name) === entry) current.delete(name)
      }
      entry.promise.then(end, () => end(null))
      return entry.promise
    },

    /** Returns a result without waiting; `null` if none is cached. */
    peek: (name: string): Value | null => find(name)?.value ?? null,

    /** Forgets all results, including those of calls in progress. */
    clear (): void {
      calls = new LruMap(maxCached)
    }
  }
}

/** Returns a function that shares the result of `read` between all calls. It reads again after a failure. */
export function createOnce<Value> (read: () => Promise<Value>): () => Promise<Value> {
  let reading: Promise<Value> | null = null
  return () => {
    reading ??= read().catch((error: unknown) => {
      reading = null
      throw error
    })
    return reading
  }
}

/** Returns a function that shares the result of `work` between the calls that arrive while it runs. */
export function createShared<Result> (work: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | null = null
  return () => {
    running ??= work().finally(() => { running = null })
    return running
  }
}

/** A map of at most `max` entries that drops the least recently used one. */
export class LruMap<Value> {
  readonly #max: number
  readonly #entries = new Map<string, Value>()

  constructor (max: number) {
    this.#max = max
  }

  get (key: string): Value | undefined {
    const value = this.#entries.get(key)
    if (value !== undefined) this.set(key, value)
    return value
  }

  getOrCreate (key: string, create: () => Value): Value {
    const known = this.get(key)
    if (known !== undefined) return known
    const value = create()
    this.set(key, value)
    return value
  }

  set (key: string, value: Value): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size <= this.#max) return
    const [oldest = ''] = this.#entries.keys()
    this.#entries.delete(oldest)
  }

  delete (key: string): void {
    this.#entries.delete(key)
  }
}
