import type { Session } from './fragment.js'

/** `none`: there was never one. `renewing`: asked for another. `ended`: nobody gave one in time. */
export type SessionState = 'none' | 'active' | 'renewing' | 'ended'

/** The parts that a keeper needs. */
export interface KeeperParts {
  first: Session | null
  /** Asks the embedding page for another session; returns whether there is somebody to ask. */
  ask (): boolean
  /** Milliseconds since 1970. */
  now (): number
  /** Calls back later, and returns what stops it. */
  later (callback: () => void, delayMs: number): () => void
}

/** Holds the session, and has it renewed. */
export interface SessionKeeper {
  session (): Session | null
  state (): SessionState
  /** Takes a new session. */
  accept (session: Session): void
  /** Resolves with a session that replaces a refused one; `null` if the new one is of another tenant. */
  replaced (old: Session): Promise<Session | null>
  /** Calls back after each change; returns what stops it. */
  watch (listener: () => void): () => void
}

/** Before its end, the session is renewed by as much. */
const renewAheadMs = 60_000
/**
 * After a new session, nothing is asked for this long, however soon it ends: on a computer whose clock is ahead, every
 * session looks as if it had ended.
 */
const restMs = 30_000
/** The embedding page has to sign its user in, possibly. */
const answerWithinMs = 15_000

export function createKeeper ({ first, ask, now, later }: KeeperParts): SessionKeeper {
  let session = first
  let state: SessionState = first === null ? 'none' : 'active'
  let cancel = () => {}
  const listeners = new Set<() => void>()
  const waiting = new Set<(session: Session) => void>()

  function change (next: SessionState): void {
    state = next
    for (const listener of [...listeners]) listener()
  }

  /** Asks for another session. Until `endsAt` the one at hand is good. */
  function renew (endsAt: number): void {
    cancel()
    const isAsked = ask()
    cancel = later(end, Math.max(0, endsAt - now(), isAsked ? answerWithinMs : 0))
    if (isAsked) change('renewing')
  }

  function end (): void {
    change(session === null ? 'none' : 'ended')
  }

  function accept (next: Session): void {
    session = next
    const { expiresAt } = next
    cancel()
    cancel = later(() => renew(expiresAt), Math.max(restMs, expiresAt - renewAheadMs - now()))
    change('active')
    for (const resolve of waiting) resolve(next)
    waiting.clear()
  }

  async function replaced (old: Session): Promise<Session | null> {
    if (session === old && state === 'active') renew(now())
    const other = session !== null && session !== old ? session : await new Promise<Session>((resolve) => waiting.add(resolve))
    return other.tenantSlug === old.tenantSlug ? other : null
  }

  if (first === null) renew(now())
  else accept(first)
  return {
    session: () => session,
    state: () => state,
    accept,
    replaced,
    watch (listener) {
      listeners.add(listener)
      return () => { listeners.delete(listener) }
    }
  }
}
