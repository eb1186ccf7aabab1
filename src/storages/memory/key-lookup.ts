import { hashApiKey, keyLimitReaders, omitNull, readKeyPrefix } from '../../core/keys/api-key.js'
import { RecruitingApiError } from '../../core/shared/errors.js'
import { assertKnownNames, flag, optional, readOptions, unread } from '../../core/shared/read-options.js'
import { isTenantSlug, tenantSlugRule } from '../../core/shared/text.js'
import type {
  ApiKey, AsyncKeyLookup, Clock, GeneratedKey, KeyCredentials, KeyRejection, KeySortField, KeyStore, ManagedKey
} from '../../core/ports/index.js'
import { formatDateTime, isRecord, parseDateTime, parseTenant, parseText, reject } from './checks.js'
import { compareBy } from './sorting.js'

/** An API key, its tenant and its scopes. */
export interface MemoryApiKey {
  /** 1 to 512 characters of `A-Z a-z 0-9 - . _ ~ + /`, with `=` only at the end (RFC 6750, section 2.1). */
  key: string
  /** The only tenant that the key is valid for, 1 to 100 characters without control characters. */
  tenantSlug: string
  /** The id of that tenant. @default the slug, as without the option `tenantId` */
  tenantId?: string
  /** For example `candidates:read`. */
  scopes: readonly string[]
  /** CIDRs that requests with the key may come from, 1 to 100. @default any address */
  allowedIps?: readonly string[]
  /** The published fields of a candidate that the key sees besides `id`. @default all */
  candidateFields?: readonly string[]
  /** The published fields of a job that the key sees besides `id`. @default all */
  jobFields?: readonly string[]
  /** Identifies the key in logs. @default `key_1`, `key_2` and so on, by position in the list */
  id?: string
  /** When the key expires, as a `Date` or RFC 3339 text. @default never */
  expiresAt?: Date | string
  /** @default false */
  revoked?: boolean
}

/** Options of `memoryKeyLookup`. */
export interface MemoryKeyLookupOptions {
  /** The clock that decides when keys expire. @default the system clock */
  clock?: Pick<Clock, 'now'>
  /** The prefix of keys that customers create, as for `generateApiKey`. @default 'rk' */
  prefix?: string
}

const optionNames = { clock: true, prefix: true } satisfies Record<keyof MemoryKeyLookupOptions, true>

// Unknown names are rejected, because a misspelt `expiresAt` would create a key that never expires.
const keyReaders = {
  // Checked first, because messages must not show it.
  key: unread,
  tenantSlug: (value: unknown, path: string): string =>
    isTenantSlug(value) ? value : reject(path, tenantSlugRule, value),
  tenantId: optional(parseTenant),
  scopes (value: unknown, path: string): string[] {
    if (!Array.isArray(value)) reject(path, 'an array', value)
    return value.map((scope: unknown, index) => parseText(scope, `${path}[${index}]`))
  },
  ...keyLimitReaders,
  id: optional(parseText),
  expiresAt (value: unknown, path: string): string | null {
    if (value === undefined) return null
    if (!(value instanceof Date)) return formatDateTime(parseDateTime(value, path))
    const time = value.getTime()
    return Number.isNaN(time) ? reject(path, 'a valid date', String(value)) : formatDateTime(time)
  },
  revoked: flag(false)
} satisfies Record<keyof MemoryApiKey, unknown>

/**
 * Creates a key lookup from a list of keys. It stores only their SHA-256 digests. Customers can manage these keys, and
 * create more, until the process ends.
 *
 * Throws `RecruitingApiError` (`invalid_option`) for an unknown option and a malformed or duplicate key. The message
 * never contains the key.
 */
export function memoryKeyLookup (keys: readonly MemoryApiKey[], options: MemoryKeyLookupOptions = {}): AsyncKeyLookup {
  assertKnownNames(options, optionNames)
  const clock = options.clock ?? { now: Date.now }
  const prefix = readKeyPrefix(options.prefix, 'prefix')
  const known = readKeys(keys, formatDateTime(clock.now()))

  async function lookup ({ tenantId, key }: KeyCredentials): Promise<ApiKey | null> {
    const match = known.get(hashApiKey(key))
    if (match === undefined || match.tenant !== tenantId || !isValid(match, clock.now())) return null
    match.key.last_used_at = formatDateTime(clock.now())
    return match.owner
  }

  function recordUse (id: string): void {
    for (const { key } of known.values()) if (key.id === id) key.last_used_at = formatDateTime(clock.now())
  }

  return Object.assign(lookup, { recordUse, store: createKeyStore(known, prefix, clock) })
}

function readKeys (keys: unknown, createdAt: string): Map<string, KnownKey> {
  if (!Array.isArray(keys)) rejectKey('keys', 'expected an array')
  const known = new Map<string, KnownKey>()
  keys.forEach((input: unknown, index) => {
    const path = `keys[${index}]`
    if (!isRecord(input)) rejectKey(path, 'expected an object')
    // Before its names: an unknown name could otherwise be the key itself, and the message shows it.
    const digest = hashApiKey(parseKey(input.key, `${path}.key`))
    const { tenantSlug, tenantId, id, revoked, ...rest } = readOptions(input, keyReaders, path)
    if (known.has(digest)) rejectKey(`${path}.key`, 'is listed twice')
    known.set(digest, createKnownKey(tenantId ?? tenantSlug, {
      id: id ?? `key_${index + 1}`,
      name: null,
      scopes: rest.scopes,
      allowed_ips: rest.allowedIps,
      candidate_fields: rest.candidateFields,
      job_fields: rest.jobFields,
      start: null,
      created_at: createdAt,
      created_by: { type: 'code', id: null },
      expires_at: rest.expiresAt,
      replaced: false,
      last_used_at: null,
      revoked_at: revoked ? createdAt : null
    }))
  })
  return known
}

function parseKey (value: unknown, path: string): string {
  const isKey = typeof value === 'string' && value.length <= 512 && /^[\w.~+/-]+=*$/.test(value)
  return isKey
    ? value
    : rejectKey(path, 'expected 1 to 512 characters of A-Z a-z 0-9 - . _ ~ + / with = only at the end')
}

// The message does not show the value, because it may be or contain a key.
function rejectKey (path: string, problem: string): never {
  throw new RecruitingApiError('invalid_option', `${path}: ${problem}`, path)
}

interface KnownKey extends Descent {
  tenant: string
  owner: ApiKey
  key: ManagedKey
}

/** Where a key comes from. */
interface Descent {
  /** The first key of its line of rotations. */
  line: string
  /** The number of rotations since. */
  generation: number
  /** The lines of the keys that it descends from, each with the generation of the oldest of these keys. */
  ancestors: ReadonlyMap<string, number>
}

const maxAncestors = 20

function createKnownKey (tenant: string, key: ManagedKey, descent: Partial<Descent> = {}): KnownKey {
  return { line: key.id, generation: 0, ancestors: new Map(), ...descent, tenant, key, owner: ownerOf(key) }
}

function ownerOf (key: ManagedKey): ApiKey {
  const {
    id, scopes, allowed_ips: allowedIps, candidate_fields: candidateFields, job_fields: jobFields, name,
    expires_at: expiresAt
  } = key
  const details = omitNull(structuredClone({ allowedIps, candidateFields, jobFields, name, expiresAt }))
  return Object.freeze({ id, scopes: Object.freeze([...scopes]), ...details })
}

/** Returns the ancestors of a key that `creator` creates in addition to these. */
function addAncestor (ancestors: Descent['ancestors'], creator: Descent): Descent['ancestors'] {
  const merged = new Map(ancestors)
  for (const [line, generation] of [...creator.ancestors, [creator.line, creator.generation] as const]) {
    merged.set(line, Math.min(generation, merged.get(line) ?? generation))
  }
  return merged
}

function isChild ({ ancestors, line, generation }: KnownKey, of: KnownKey): boolean {
  const oldest = ancestors.get(of.line)
  return oldest !== undefined && oldest <= of.generation && !isReplacedBy({ line, generation }, of)
}

/** Returns whether a key was replaced by this one, directly or not. */
function isReplacedBy ({ line, generation }: Pick<Descent, 'line' | 'generation'>, key: KnownKey): boolean {
  return line === key.line && generation < key.generation
}

function earliest (...ends: Array<string | null>): string | null {
  return ends.filter((end) => end !== null).sort()[0] ?? null
}

function isValid ({ key }: KnownKey, now: number): boolean {
  return key.revoked_at === null && (key.expires_at === null || now < Date.parse(key.expires_at))
}

function createKeyStore (
  known: Map<string, KnownKey>, prefix: string, clock: Pick<Clock, 'now'>
): KeyStore {
  const keysOf = (tenant: string): KnownKey[] => [...known.values()].filter((entry) => entry.tenant === tenant)
  const findBy = (tenant: string, id: string): KnownKey | undefined =>
    keysOf(tenant).find((entry) => entry.key.id === id)
  const isUsable = (entry: KnownKey): boolean => isValid(entry, clock.now())

  function findRejection (tenant: string, { createdBy }: GeneratedKey, maxKeys: number): KeyRejection | null {
    const creator = createdBy.type === 'key' ? findBy(tenant, String(createdBy.id)) : undefined
    if (creator !== undefined && (!isUsable(creator) || creator.key.replaced)) return 'creator_ended'
    return keysOf(tenant).filter(isUsable).length >= maxKeys ? 'full' : null
  }

  /** Stores a key: `rest` are the parts that a rotation keeps, and `old` is the key that it replaces. */
  function add (
    tenant: string, { id, digest, start, createdBy }: GeneratedKey, rest: KeyParts, old: Partial<KnownKey> = {}
  ): ManagedKey | 'too_deep' {
    const isByKey = createdBy.type === 'key'
    const creatorId = String(createdBy.id)
    const creator = isByKey ? findBy(tenant, creatorId) : undefined
    const { line = id, generation = -1, ancestors: inherited = new Map() } = old
    const ancestors = isByKey
      ? addAncestor(inherited, creator ?? { line: creatorId, generation: 0, ancestors: new Map() })
      : inherited
    if (ancestors.size > maxAncestors) return 'too_deep'
    const key = {
      ...structuredClone(rest),
      expires_at: earliest(rest.expires_at, creator?.key.expires_at ?? null),
      id,
      start,
      created_at: formatDateTime(clock.now()),
      created_by: { ...createdBy },
      replaced: false,
      last_used_at: null,
      revoked_at: null
    }
    known.set(digest, createKnownKey(tenant, key, { line, generation: generation + 1, ancestors }))
    return structuredClone(key)
  }

  const childrenOf = (parent: KnownKey): KnownKey[] =>
    keysOf(parent.tenant).filter((entry) => entry !== parent && isChild(entry, parent))

  return {
    prefix,

    async list (tenant, { sort, offset, limit }) {
      const rows = keysOf(tenant).map(({ key }) => key)
      const compare = compareBy<ManagedKey, KeySortField>(sort, (row, field) => row[field])
      return structuredClone(rows.sort(compare).slice(offset, offset + limit))
    },

    count: async (tenant) => keysOf(tenant).length,

    async find (tenant, id) {
      return structuredClone(findBy(tenant, id)?.key ?? null)
    },

    async create (tenant, key, { maxKeys }) {
      const rejection = findRejection(tenant, key, maxKeys)
      if (rejection !== null) return rejection
      const { name, scopes, allowedIps, candidateFields, jobFields, expiresInDays } = key
      return add(tenant, key, {
        name,
        scopes: [...scopes],
        allowed_ips: allowedIps && [...allowedIps],
        candidate_fields: candidateFields && [...candidateFields],
        job_fields: jobFields && [...jobFields],
        expires_at: formatDateTime(clock.now() + expiresInDays * 86_400_000)
      })
    },

    async rotate (tenant, id, key, { overlapSeconds, maxKeys }) {
      const rejection = findRejection(tenant, key, overlapSeconds > 0 ? maxKeys : Infinity)
      if (rejection !== null) return rejection
      const old = findBy(tenant, id)
      if (old === undefined || !isUsable(old) || old.key.replaced) return null
      const rotated = add(tenant, key, old.key, old)
      if (rotated === 'too_deep') return rotated
      const end = earliest(old.key.expires_at, formatDateTime(clock.now() + overlapSeconds * 1000))
      Object.assign(old.key, { expires_at: end, replaced: true })
      old.owner = ownerOf(old.key)
      return { ...rotated, previous_key_expires_at: String(end) }
    },

    async revoke (tenant, id, { children }) {
      const entry = findBy(tenant, id)
      if (entry === undefined) return null
      const valid = childrenOf(entry).filter(isUsable)
      for (const { key } of [entry, ...children ? valid : []]) key.revoked_at ??= formatDateTime(clock.now())
      return { children: valid.length }
    },

    async selectFamily (tenant, id, { ids, children }) {
      const entry = findBy(tenant, id)
      if (entry === undefined) return []
      const own = keysOf(tenant).filter((other) => other === entry || isReplacedBy(other, entry))
      const family = new Set([...own, ...children ? childrenOf(entry) : []].map(({ key }) => key.id))
      return ids.filter((one) => family.has(one))
    }
  }
}

type KeyParts = Pick<
  ManagedKey, 'name' | 'scopes' | 'allowed_ips' | 'candidate_fields' | 'job_fields' | 'expires_at'
>
