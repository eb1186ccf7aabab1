import { type Session, readSession } from './fragment.js'

/** Reads the session of the page's address, and puts a route in its place: addresses are copied, and kept in the history. */
export function takeSession (hash = '#/'): Session | null {
  const session = readSession(location.hash)
  if (session !== null) history.replaceState(null, '', `${location.pathname}${location.search}${hash}`)
  return session
}

/** Listens for further sessions: from the embedding page, and in the address. Returns what stops it. */
export function listen (origins: readonly string[], accept: (session: Session) => void): () => void {
  const take = (session: Session | null) => { if (session !== null) accept(session) }
  const onMessage = (event: MessageEvent) => {
    if (event.source !== parent || parent === window || !isListed(origins, event.origin)) return
    const { type, url } = Object(event.data)
    if (type === 'recruiting-webhooks:session' && typeof url === 'string') take(readSession(url))
  }
  // Capturing: before the route is read from the same address. The page stays where it is, with what is typed there.
  const onHash = ({ oldURL }: HashChangeEvent) => take(takeSession(new URL(oldURL).hash))
  addEventListener('message', onMessage)
  addEventListener('hashchange', onHash, true)
  return () => {
    removeEventListener('message', onMessage)
    removeEventListener('hashchange', onHash, true)
  }
}

/** Asks the embedding page for another session; returns whether there is one that may be asked. */
export function askParent (origins: readonly string[]): boolean {
  if (parent === window) return false
  const [parentOrigin] = location.ancestorOrigins ?? []
  const asked = exactOrigins(origins).filter((origin) => parentOrigin === undefined || origin === parentOrigin)
  for (const origin of asked) parent.postMessage({ type: 'recruiting-webhooks:session-needed' }, origin)
  return asked.length > 0
}

function isListed (origins: readonly string[], origin: string): boolean {
  return exactOrigins(origins).includes(origin)
}

function exactOrigins (origins: readonly string[]): string[] {
  return origins.map((origin) => origin === "'self'" ? location.origin : origin)
}
