import { hashApiKey } from './api-key.js'
import { RecruitingApiError } from '../errors.js'
import { expect } from '../shared/expect.js'
import { type Readers, integer, readOptions } from '../shared/read-options.js'
import type { ApiKey, AsyncKeyLookup, Clock, KeyLookup } from '../ports/index.js'
import { readClock } from '../shared/clock.js'
import { trimEntries } from '../shared/trim-entries.js'

/** How the answers of a key lookup are kept. */
export interface CacheKeyLookupOptions {
  /**
   * For how many milliseconds an answer is kept, counted from when it was asked for, 0 to 3,600,000: a key that is
   * revoked or issued now is refused or taken so much later at the latest. 0 keeps nothing.
   * @default 10000
   */
  ttlMs?: number
  /**
   * How many keys are kept, 1 to 10,000,000; the oldest answer makes room.
   * @default 10000
   */
  max?: number
  /**
   * How many keys that are not valid are kept, 1 to 10,000,000: guesses take no room from the others.
   * @default 1000
   */
  maxInvalid?: number
  /**
   * After how many milliseconds a lookup is given up, 1 to 120,000; the request gets 500.
   * @default 5000
   */
  timeoutMs?: number
  /**
   * Time, for tests.
   * @default the system's
   */
  clock?: Clock
}

/** The default and the check of each option. */
const readers: Readers<Required<CacheKeyLookupOptions>> = {
  ttlMs: integer(0, 3_600_000, 10_000),
  max: integer(1, 10_000_000, 10_000),
  maxInvalid: integer(1, 10_000_000, 1000),
  timeoutMs: integer(1, 120_000, 5000),
  clock: readClock
}

interface Answer {
  key: ApiKey | null
  expiresAtMs: number
}

/**
 * A key lookup that keeps answers for a short time, asks once for requests that come together, and gives up on a lookup
 * that hangs. Failures are not kept, and of keys no more than digests. Throws `invalid_option`.
 */
export function cacheKeyLookup (lookup: KeyLookup, options: CacheKeyLookupOptions = {}): AsyncKeyLookup {
  expect(typeof lookup === 'function', 'lookup', 'a function', lookup)
  const { ttlMs, max, maxInvalid, timeoutMs, clock } = readOptions(options, readers)
  const valid = new Map<string, Answer>()
  const invalid = new Map<string, Answer>()
  const underWay = new Map<string, Promise<ApiKey | null>>()

  async function ask (name: string, credentials: Parameters<KeyLookup>[0]): Promise<ApiKey | null> {
    // Not from when it came: the key may have been revoked since it was read.
    const expiresAtMs = clock.now() + ttlMs
    const key = await withinTime(lookup(credentials), timeoutMs, clock) ?? null
    valid.delete(name)
    invalid.delete(name)
    const answers = key === null ? invalid : valid
    answers.set(name, { key, expiresAtMs })
    // All answers live as long, so the oldest entry is the first to expire.
    trimEntries(answers, key === null ? maxInvalid : max)
    return key
  }

  function askOnce (name: string, credentials: Parameters<KeyLookup>[0]): Promise<ApiKey | null> {
    const known = underWay.get(name)
    if (known !== undefined) return known
    const asking = ask(name, credentials)
    const end = (): void => { underWay.delete(name) }
    underWay.set(name, asking)
    asking.then(end, end)
    return asking
  }

  return async (credentials) => {
    const name = `${hashApiKey(credentials.key)}/${credentials.tenantSlug}`
    const answer = valid.get(name) ?? invalid.get(name)
    const isFresh = answer !== undefined && clock.now() < answer.expiresAtMs
    const key = isFresh ? answer.key : await askOnce(name, credentials)
    return key && { ...key, scopes: key.scopes.slice() }
  }
}

async function withinTime<T> (answer: T | Promise<T>, timeoutMs: number, clock: Clock): Promise<T> {
  let timer: unknown
  const tooLate = new Promise<never>((_resolve, reject) => {
    timer = clock.setTimeout(() => {
      reject(new RecruitingApiError('storage_timeout', `the key lookup did not answer within ${timeoutMs} ms`))
    }, timeoutMs)
  })
  try {
    return await Promise.race([answer, tooLate])
  } finally {
    clock.clearTimeout(timer)
  }
}
