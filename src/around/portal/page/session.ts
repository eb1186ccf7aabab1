import type { ThemeHint } from '../theme.js'
import { parseUrl } from './text.js'

const known = ['read', 'write', 'secrets', 'bodies', 'test', 'replay', 'keys'] as const

/** Browsers treat a path that begins with `//` as another host, even with a backslash or a tab in it. */
const path = /^\/(?![/\\])[^\p{Cc}\s\\]*$/u

/** Something a session can do. */
export type Capability = typeof known[number]

/** A session, kept only in memory. All fields but the token are hints: the server decides. */
export interface Session {
  token: string
  tenantSlug: string
  /** Milliseconds since 1970. */
  expiresAt: number
  capabilities: ReadonlySet<Capability>
  locale: string | null
  theme: ThemeHint
  /** A path on the API's origin, or a URL of an origin that the vendor lists. */
  returnUrl: string | null
}

/**
 * Reads a session from a URL or its fragment; `null` if it contains none. Drops a return URL that is neither a path nor
 * on `returnOrigins`.
 */
export function readSession (text: string, returnOrigins: readonly string[]): Session | null {
  const fields = new URLSearchParams(text.slice(text.indexOf('#') + 1))
  const token = fields.get('token')
  const tenantSlug = fields.get('tenant')
  const expiresAt = Date.parse(fields.get('expires_at') ?? '')
  if (!token || !tenantSlug || Number.isNaN(expiresAt)) return null
  const names = (fields.get('capabilities') ?? '').split(',')
  return {
    token,
    tenantSlug,
    expiresAt,
    capabilities: new Set(known.filter((name) => name === 'read' || names.includes(name))),
    locale: fields.get('locale'),
    theme: readThemeHint(fields),
    returnUrl: readReturnUrl(fields.get('return_url'), returnOrigins)
  }
}

/** Prevents open redirects: anyone can write a link. */
export function readReturnUrl (text: string | null, origins: readonly string[]): string | null {
  if (text === null || path.test(text)) return text
  const url = parseUrl(text)
  return url !== null && origins.includes(url.origin) ? url.href : null
}

/** `none`: no session yet. `renewing`: has asked for a new one. `ended`: no new one arrived in time. */
export type SessionState = 'none' | 'active' | 'renewing' | 'ended'

/** How long before a session expires it is renewed. */
const renewAheadMs = 60_000
/**
 * The minimum time between a new session and the next renewal: if the computer's clock is ahead, every session looks
 * expired.
 */
const restMs = 30_000
/**
 * How long the portal waits for the embedding page before it reports that there is no session. It still accepts a
 * later session.
 */
const renewWithinMs = 5_000

interface SessionManagerParts {
  first: Session | null
  /** The return URL until a session is accepted. */
  returnUrl?: string | null
  /** Asks the embedding page for a new session. Returns `false` if there is no page to ask. */
  ask (): boolean
  /** Milliseconds since 1970. */
  now (): number
  /** Calls back later. Returns a function that cancels it. */
  later (callback: () => void, delayMs: number): () => void
}

export type SessionManager = ReturnType<typeof createSessionManager>

/** Keeps the session and renews it. */
export function createSessionManager (
  { first, returnUrl: firstReturnUrl = null, ask, now, later }: SessionManagerParts
) {
  let session = first
  let state: SessionState = first === null ? 'none' : 'active'
  let offered: Session | null = null
  let returnUrl = firstReturnUrl
  let isAsked = false
  let cancel = () => {}
  const listeners = new Set<() => void>()
  const waiting = new Set<(session: Session) => void>()

  function change (next: SessionState): void {
    state = next
    for (const listener of [...listeners]) listener()
  }

  /** Asks for a new session. The current one is valid until `endsAt`. */
  function renew (endsAt: number): void {
    cancel()
    isAsked = ask()
    cancel = later(end, Math.max(0, endsAt - now(), isAsked ? renewWithinMs : 0))
    if (isAsked) change('renewing')
  }

  function end (): void {
    change(session === null ? 'none' : 'ended')
  }

  function accept (next: Session): void {
    session = next
    offered = null
    const { expiresAt } = next
    cancel()
    cancel = later(() => renew(expiresAt), Math.max(restMs, expiresAt - renewAheadMs - now()))
    change('active')
    for (const resolve of waiting) resolve(next)
    waiting.clear()
  }

  function wait (next: Session | null): void {
    offered = next
    change(state)
  }

  if (first === null) renew(now())
  else accept(first)
  return {
    current: () => session,
    state: () => state,
    /** Replaces the session. */
    accept,
    /**
     * Accepts a session from the URL, which anyone can write. A session of another tenant waits for `accept` or
     * `decline`.
     */
    offer: (next: Session) =>
      session === null || session.tenantSlug === next.tenantSlug ? accept(next) : wait(next),
    /** The waiting session, if any. */
    offered: () => offered,
    /** Drops the waiting session. */
    decline: () => wait(null),
    /** Records that the API has accepted a session. */
    confirm (accepted: Session): void {
      if (accepted !== session || accepted.returnUrl === returnUrl) return
      returnUrl = accepted.returnUrl
      change(state)
    },
    /** The return URL of the last session that the API has accepted. */
    returnUrl: () => returnUrl,
    /** Whether there is a page to ask for a session. */
    canAsk: () => isAsked,
    /** Asks for a session again. */
    askAgain: () => renew(now()),
    /** Deletes every session and stops renewing. */
    close () {
      cancel()
      session = offered = returnUrl = null
    },
    /** Waits for a session that replaces a rejected one. Returns `null` if it belongs to another tenant. */
    async replaced (old: Session): Promise<Session | null> {
      if (session === old && state === 'active') renew(now())
      const other =
        session !== null && session !== old ? session : await new Promise<Session>((resolve) => waiting.add(resolve))
      return other.tenantSlug === old.tenantSlug ? other : null
    },
    /** Calls back after each change. Returns a function that stops it. */
    watch (listener: () => void) {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    }
  }
}

const colour = /^#[\da-f]{6}$/i

/**
 * Reads the look from the fragment of a session. Ignores values that are not plain colours, lengths and names: anyone
 * can write a link.
 */
function readThemeHint (fields: URLSearchParams): ThemeHint {
  const read = (field: string, pattern: RegExp, name = field) => {
    const value = fields.get(field) ?? ''
    return pattern.test(value) ? { [name]: value } : {}
  }
  const accent = { ...read('accent_light', colour, 'light'), ...read('accent_dark', colour, 'dark') }
  return {
    ...(Object.keys(accent).length > 0 && { accent }),
    ...read('radius', /^\d{1,3}(\.\d{1,3})?(px|rem|em)$/),
    ...read('font', /^[\p{L}\d ,'"_-]{1,200}$/u),
    ...read('mode', /^(light|dark|system)$/)
  }
}

/** The screens without an id, with the fragments of their URLs. */
const places = {
  endpoints: '#/', create: '#/new', keys: '#/keys', newKey: '#/keys/new', agents: '#/agents'
} as const

type Place = keyof typeof places

/** A place in the portal. */
export type Route =
  | { screen: Place }
  | { screen: 'endpoint', id: number }
  | { screen: 'edit', id: number }
  | { screen: 'delivery', id: number, deliveryId: number }

/** Formats a route as the fragment of the page's URL, for example `#/1/deliveries/2`. */
export function formatRoute (route: Route): string {
  switch (route.screen) {
    case 'endpoint': return `#/${route.id}`
    case 'edit': return `#/${route.id}/edit`
    case 'delivery': return `#/${route.id}/deliveries/${route.deliveryId}`
    default: return places[route.screen]
  }
}

/** Reads a route. Unknown fragments lead to the list. */
export function parseRoute (hash: string): Route {
  const [, idText, rest, deliveryText] = /^#\/(\d{1,16})(?:\/(edit|deliveries\/(\d{1,16})))?$/.exec(hash) ?? []
  if (idText === undefined) {
    return { screen: (Object.keys(places) as Place[]).find((place) => places[place] === hash) ?? 'endpoints' }
  }
  const id = Number(idText)
  if (rest === undefined) return { screen: 'endpoint', id }
  return deliveryText === undefined
    ? { screen: 'edit', id }
    : { screen: 'delivery', id, deliveryId: Number(deliveryText) }
}
