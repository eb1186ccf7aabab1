import type { Clock } from '../ports/index.js'
import { withinTime } from './clock.js'
import { assertOption, type Limit, isWithin } from './read-options.js'

interface LimitOptions {
  /** The path of the option. */
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
  const cached = new LruMap<{ value: Promise<number>; expiresAtMs: number }>(maxCached)
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

  return (name, of) => {
    const known = cached.get(name)
    const now = clock.monotonic()
    if (known !== undefined && now < known.expiresAtMs) return known.value
    const entry = { value: read(of), expiresAtMs: now + cachedMs }
    cached.set(name, entry)
    entry.value.catch(() => {
      if (cached.get(name) === entry) cached.delete(name)
    })
    return entry.value
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
