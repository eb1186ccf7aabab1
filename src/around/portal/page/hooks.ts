import { createContext } from 'preact'
import { useCallback, useContext, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { PortalMessages } from '../messages.js'
import { type ThemeHint, themeProperties } from '../theme.js'
import type { Api, Failure, Page, PageQuery, Result } from './api.js'
import type { LogPlace } from './deliveries.js'
import {
  type Capability, type Route, type SessionManager, type SessionState, formatRoute, parseRoute
} from './session.js'
import { type Format, type Language, type LanguageFiles, chooseLanguage } from './text.js'

/** The vendor's settings that screens show. */
export interface PageFacts {
  /** The addresses that notifications come from; empty if the vendor lists none. */
  sourceIps: readonly string[]
  /** The limits of customers' API keys; `null` if customers cannot manage keys. In `Portal`, also without `keys`. */
  keys: KeyFacts | null
  /** Whether agents can subscribe to events. */
  hasAgents: boolean
}

/** Everything that screens and parts share, with the texts and formats of the page's language. */
export interface Portal extends ReturnType<typeof useRoute>, Format, PageFacts {
  api: Api
  /** Whether the session has this capability. Screens hide other actions. */
  can (capability: Capability): boolean
  /** Announces a result to screen readers, without moving the focus. */
  announce (text: string): void
  /** The title of the screen. */
  title: { current: HTMLHeadingElement | null }
  /** Moves the focus to the title, once an open dialog has closed. For an element that disappears. */
  focusTitle (): void
  /** Screens entered so far. */
  visits: { current: number }
  /** The place in the log from which a delivery was opened. */
  logPlace: { current: LogPlace | null }
  state: SessionState
  /** Asks the embedding page for a session again; `null` without such a page. */
  askAgain: (() => void) | null
  /** The vendor's page, to leave the portal or to get a new session. */
  returnUrl: string | null
}

/** The rules for keys. The server enforces them too. */
interface KeyFacts {
  scopes: readonly string[]
  maxDays: number
}

export const PortalContext = createContext<Portal | null>(null)

export function usePortal (): Portal {
  const portal = useContext(PortalContext)
  if (portal === null) throw new Error('outside the portal')
  return portal
}

export type CurrentSession = ReturnType<typeof useSession>

/** Returns the session and its state, and renders again when they change. */
export function useSession (sessions: SessionManager) {
  const read = () => ({
    session: sessions.current(), state: sessions.state(), offered: sessions.offered(), returnUrl: sessions.returnUrl()
  })
  const [current, setCurrent] = useState(read)
  useLayoutEffect(() => {
    setCurrent(read())
    return sessions.watch(() => setCurrent(read()))
  }, [sessions])
  return current
}

/** Keeps the route in the URL of our own page, so that Back works. On a host's page, keeps it in memory. */
export function useRoute (isOwnPage: boolean) {
  const [route, setRoute] = useState<Route>(() => isOwnPage ? parseRoute(location.hash) : { screen: 'endpoints' })
  const guard = useRef<((next: Route) => void) | null>(null)
  const read = () => {
    const next = parseRoute(location.hash)
    const here = formatRoute(route)
    if (guard.current === null || formatRoute(next) === here) return setRoute(next)
    // A link or Back has already changed the URL.
    history.pushState(null, '', here)
    guard.current(next)
  }
  useWindowEvent('hashchange', isOwnPage ? read : null)
  return {
    route,
    /** Called instead of navigating: a form with changes asks first. */
    guard,
    go (next: Route) {
      if (isOwnPage) location.hash = formatRoute(next)
      else if (guard.current !== null) guard.current(next)
      else setRoute(next)
    },
    /** Navigates without asking the guard, and replaces the current history entry. */
    leave (next: Route) {
      guard.current = null
      if (isOwnPage) location.replace(formatRoute(next))
      setRoute(next)
    },
    /** The URL of a route; `null` on a host's page, whose URL belongs to the host. */
    href: (next: Route) => isOwnPage ? formatRoute(next) : null
  }
}

/** Listens to a window event while the component is mounted. `null` stops it. */
export function useWindowEvent (name: string, listener: ((event: Event) => void) | null): void {
  const latest = useRef(listener)
  latest.current = listener
  const isActive = listener !== null
  // A layout effect, so that no event is missed before the next frame.
  useLayoutEffect(() => {
    if (!isActive) return
    const call = (event: Event) => latest.current?.(event)
    addEventListener(name, call)
    return () => removeEventListener(name, call)
  }, [isActive])
}

interface QueryState<Value> {
  /** The last value, kept while the next one loads or if it fails. */
  value: Value | null
  failure: Failure | null
  isLoading: boolean
}

/** Data from the API. */
export interface Query<Value> extends QueryState<Value> {
  reload (): void
}

/** Loads when the component mounts, when one of `inputs` changes, and when the connection returns after a failure. */
export function useQuery<Value> (
  load: (signal: AbortSignal) => Promise<Result<Value>>, inputs: readonly unknown[]
): Query<Value> {
  const [state, setState] = useState<QueryState<Value>>({ value: null, failure: null, isLoading: true })
  const [turn, setTurn] = useState(0)
  const reload = useCallback(() => setTurn((previous) => previous + 1), [])
  const loadLatest = useRef(load)
  loadLatest.current = load

  useEffect(() => {
    const controller = new AbortController()
    setState((previous) => ({ ...previous, isLoading: true }))
    loadLatest.current(controller.signal).then(
      (result) => {
        if (controller.signal.aborted) return
        setState((previous) => ({ value: result.value ?? previous.value, failure: result.failure, isLoading: false }))
      },
      () => {}
    )
    return () => controller.abort()
  }, [...inputs, turn])

  useWindowEvent('online', state.failure?.status === 0 ? reload : null)
  return { ...state, reload }
}

/** A list that is read page by page. */
export interface PagedQuery<Row> extends Query<Page<Row>> {
  page: number
  setPage (page: number): void
}

/** Loads a page of a list, initially the first, again when one of `inputs` changes. */
export function usePagedQuery<Row> (
  load: (query: PageQuery, signal: AbortSignal) => Promise<Result<Page<Row>>>, inputs: readonly unknown[] = [],
  firstPage = 1
): PagedQuery<Row> {
  const [page, setPage] = useState(firstPage)
  const query = useQuery((signal) => load({ page, per_page: 25 }, signal), [page, ...inputs])
  // The list can have become shorter.
  useEffect(() => {
    if (page > 1 && query.value?.data.length === 0) setPage(page - 1)
  }, [query.value])
  return { ...query, page, setPage }
}

/**
 * Changes data. `run` does one change at a time: a second click does nothing. It calls `onDone` after a success, and
 * returns whether the change succeeded. `failure` belongs to the last run.
 */
export function useAction<Args extends readonly unknown[], Value> (
  change: (...args: Args) => Promise<Result<Value>>, onDone: (value: Value) => void
) {
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Failure | null>(null)
  const inFlight = useRef(false)

  async function run (...args: Args): Promise<boolean> {
    if (inFlight.current) return false
    inFlight.current = true
    setBusy(true)
    setFailure(null)
    const result = await change(...args)
    inFlight.current = false
    setBusy(false)
    setFailure(result.failure)
    if (result.failure === null) onDone(result.value)
    return result.failure === null
  }

  return { run, isBusy, failure }
}

/**
 * Loads data for an input that has not changed for `afterMs`. The value is `null` until then, and for the input `null`.
 */
export function useSettledQuery<Input, Value> (
  input: Input | null, afterMs: number, load: (input: Input, signal: AbortSignal) => Promise<Result<Value>>
): Query<Value> {
  const [settled, setSettled] = useState(input)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(input), afterMs)
    return () => clearTimeout(timer)
  }, [input])
  const query = useQuery(async (signal) => {
    if (settled === null) return { value: null, failure: null }
    const { value, failure } = await load(settled, signal)
    return failure === null ? { value: { settled, value }, failure } : { value: null, failure }
  }, [settled])
  return { ...query, value: query.value?.settled === input ? query.value.value : null }
}

/** Returns the time, updated at an interval. */
export function useNow (everyMs: number): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}

/**
 * Reloads at an interval while the page is visible, and when it becomes visible again. `null` stops it. Does not
 * interrupt a slow response, and leaves it to the user to try again after a failure that says when.
 */
export function useRefresh (
  { value, failure, isLoading, reload }: Query<unknown>, everyMs: number | null, isWanted: () => boolean = () => true
): void {
  const latest = useRef(() => {})
  latest.current = () => {
    if (value !== null && !isLoading && failure?.retryAfterMs == null && isWanted()) reload()
  }
  useLayoutEffect(() => {
    if (everyMs === null) return
    const call = () => { if (document.visibilityState === 'visible') latest.current() }
    const timer = setInterval(call, everyMs)
    document.addEventListener('visibilitychange', call)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', call)
    }
  }, [everyMs])
}

/** Returns whether the browser has a connection. */
export function useOnline (): boolean {
  const [isOnline, setOnline] = useState(navigator.onLine)
  const update = () => setOnline(navigator.onLine)
  useWindowEvent('online', update)
  useWindowEvent('offline', update)
  return isOnline
}

/** Sets the look on the element through the object model, because the page allows no inline styles. */
export function useTheme (
  host: HTMLElement, { vendor, session, isOwnPage }: { vendor: ThemeHint, session: ThemeHint, isOwnPage: boolean }
): void {
  useLayoutEffect(() => {
    const properties = themeProperties(vendor, session)
    for (const [name, value] of Object.entries(properties)) host.style.setProperty(name, value)
    const mode = session.mode ?? vendor.mode ?? 'system'
    const scheme = mode === 'system' ? 'light dark' : mode
    host.style.setProperty('color-scheme', scheme)
    if (!isOwnPage) return
    document.documentElement.style.setProperty('color-scheme', scheme)
    document.body.style.setProperty('margin', '0')
  }, [vendor, session])
}

const retryMs = 2000

/**
 * Loads the texts of the page's language, and retries until that succeeds. Keeps the previous texts until then. Waits
 * for the first session, which can set the language.
 */
export function useLanguage (files: LanguageFiles, { session, state }: CurrentSession) {
  const [language, setLanguage] = useState<Language | null>(null)
  const [isCutOff, setCutOff] = useState(false)
  const isKnown = session !== null || state !== 'renewing'
  const wanted = session?.locale ?? null
  const choice = useMemo(
    () => chooseLanguage([...(wanted === null ? [] : [wanted]), ...navigator.languages], files), [wanted]
  )
  useEffect(() => {
    if (!isKnown) return
    const controller = new AbortController()
    let timer = 0
    const load = async () => {
      const messages = await readTexts(choice.file, controller.signal)
      if (controller.signal.aborted) return
      setCutOff(messages === null)
      if (messages === null) timer = setTimeout(load, retryMs)
      else setLanguage({ messages, locale: choice.locale, direction: choice.direction })
    }
    load()
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [choice, isKnown])
  return { language, isCutOff }
}

async function readTexts (file: string, signal: AbortSignal): Promise<PortalMessages | null> {
  try {
    const response = await fetch(new URL(file, import.meta.url), {
      signal, credentials: 'omit', referrerPolicy: 'no-referrer'
    })
    return response.ok ? await response.json() : null
  } catch {
    return null
  }
}
