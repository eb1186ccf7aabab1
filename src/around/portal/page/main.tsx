import './style.css'
import { type ComponentChildren, render } from 'preact'
import { useCallback, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { ThemeHint } from '../theme.js'
import { AgentsScreen } from './agents.js'
import { createApi, createSend } from './api.js'
import { CreateScreen, EditScreen } from './form.js'
import { EndpointScreen, EndpointsScreen } from './endpoints.js'
import { DeliveryScreen } from './delivery.js'
import { CreateKeyScreen, KeysScreen } from './keys.js'
import type { LogPlace } from './deliveries.js'
import {
  type CurrentSession, type PageFacts, type Portal, PortalContext, useLanguage, usePortal, useRoute, useSession,
  useTheme
} from './hooks.js'
import { Button, Icon, Link } from './parts/controls.js'
import { Alerts, Empty, Skeleton } from './parts/feedback.js'
import { LeaveDialog } from './parts/frames.js'
import { type Session, type SessionManager, createSessionManager, readReturnUrl, readSession } from './session.js'
import { type Language, type LanguageFiles, createFormat } from './text.js'

/** The configuration that the server passes, in the attribute `config` or by `define`. */
interface PageConfig extends PageFacts {
  /** Name of the style sheet, next to the script. */
  style: string
  /** The vendor's look. A session can override it. */
  theme: ThemeHint
  /** Names of the files with texts, next to the script. */
  messages: LanguageFiles
  /** Whether the API accepts `Idempotency-Key` for all POST requests. */
  isKeyed: boolean
  /** Exact origins that may embed the page and renew its session. `'self'` is the page's own. */
  origins: string[]
  /** Exact origins that the portal may link back to, besides its own. */
  returnOrigins: string[]
}

interface AppProps {
  host: HTMLElement
  config: PageConfig
  sessions: SessionManager
  isOwnPage: boolean
}

/** The portal, in its shadow root. It shows no text until its language has loaded. */
function App (props: AppProps) {
  const { host, config, sessions, isOwnPage } = props
  const current = useSession(sessions)
  const [isStyled, setStyled] = useState(false)
  const { language, isCutOff } = useLanguage(config.messages, current)
  useTheme(host, { vendor: config.theme, session: current.session?.theme ?? {}, isOwnPage })
  const show = () => setStyled(true)
  return (
    <>
      <link rel='stylesheet' href={new URL(config.style, import.meta.url).href} onLoad={show} onError={show} />
      {isStyled &&
        (language === null
          ? <Loading isCutOff={isCutOff} />
          : <LoadedApp {...props} {...current} language={language} />)}
    </>
  )
}

type LoadedAppProps = AppProps & CurrentSession & { language: Language }

function LoadedApp (props: LoadedAppProps) {
  const { host, config, sessions, isOwnPage, session, state, offered, returnUrl, language } = props
  const navigation = useRoute(isOwnPage)
  const [announcement, setAnnouncement] = useState({ text: '', turn: 0 })
  const announce = useCallback((text: string) => setAnnouncement(({ turn }) => ({ text, turn: turn + 1 })), [])
  const visits = useRef(0)
  const title = useRef<HTMLHeadingElement>(null)
  const logPlace = useRef<LogPlace | null>(null)
  const format = useMemo(() => createFormat(language), [language])
  const api = useMemo(
    () => createApi(
      createSend({ base: apiBase(), sessions, fetch: (url, init) => fetch(url, init) }), config.isKeyed
    ),
    [sessions]
  )
  useLayoutEffect(() => {
    host.lang = language.locale
    host.dir = language.direction
    if (isOwnPage) Object.assign(document.documentElement, { lang: language.locale, dir: language.direction })
  }, [language])

  const portal: Portal = {
    ...format,
    api,
    can: (capability) => session?.capabilities.has(capability) ?? false,
    ...navigation,
    announce,
    visits,
    title,
    focusTitle: () => requestAnimationFrame(() => title.current?.focus()),
    logPlace,
    state,
    askAgain: sessions.canAsk() ? sessions.askAgain : null,
    returnUrl,
    sourceIps: config.sourceIps,
    keys: session?.capabilities.has('keys') === true ? config.keys : null,
    hasAgents: config.hasAgents
  }
  const { messages: { shell: { switch: texts } }, text } = format
  const take = (session: Session) => {
    sessions.accept(session)
    navigation.leave({ screen: 'endpoints' })
  }
  return (
    <PortalContext.Provider value={portal}>
      <Shell key={session?.tenantSlug} hasSession={session !== null} isOwnPage={isOwnPage} announcement={announcement}>
        <Sections />
        <CurrentScreen />
      </Shell>
      {offered !== null && (
        <LeaveDialog
          texts={{
            title: text(texts.title, { name: offered.tenantSlug }), text: texts.text, leave: texts.accept
          }}
          onStay={sessions.decline}
          onLeave={() => take(offered)}
        />
      )}
    </PortalContext.Provider>
  )
}

/** A text to announce; `turn` distinguishes two equal texts. */
interface Announcement {
  text: string
  turn: number
}

interface ShellProps {
  hasSession: boolean
  isOwnPage: boolean
  announcement: Announcement
  children: ComponentChildren
}

/** The frame of every screen. */
function Shell ({ hasSession, isOwnPage, announcement, children }: ShellProps) {
  const { returnUrl, state, messages: { shell } } = usePortal()
  // A host's page already has a `<main>`.
  const Main = isOwnPage ? 'main' : 'div'
  return (
    // In a frame, the name distinguishes it from the embedding page's `<main>`.
    <Main class='app' aria-label={isOwnPage ? shell.title : undefined}>
      {returnUrl !== null && isOwnPage && parent === window && (
        <nav class='back'><a class='link' href={returnUrl}><Icon name='back' /> {shell.returnTo}</a></nav>
      )}
      <Alerts />
      {hasSession ? children : state === 'renewing' ? <Skeleton lines={4} /> : <NoSession />}
      <Announcer {...announcement} />
    </Main>
  )
}

function NoSession () {
  const { askAgain, messages: { shell: { session, retry } } } = usePortal()
  if (askAgain === null) return <Empty title={session.none} text={session.noneText} />
  return (
    <div role='alert'>
      <Empty
        title={session.silent} text={session.silentText}
        action={<Button kind='primary' onClick={askAgain}>{retry}</Button>}
      />
    </div>
  )
}

/** Shown until the page's texts have loaded, so in English. */
function Loading ({ isCutOff }: { isCutOff: boolean }) {
  return (
    <div class='app' aria-busy={!isCutOff}>
      {isCutOff && (
        <p role='alert' lang='en' dir='ltr'>
          This page could not be loaded. Check your connection: it loads as soon as it can.
        </p>
      )}
      {!isCutOff && <div class='skeleton'><span class='skeleton-line' /><span class='skeleton-line' /></div>}
    </div>
  )
}

/** Announces results to screen readers. */
function Announcer ({ text, turn }: Announcement) {
  return <p class='unseen' role='status' aria-live='polite'><span key={turn}>{text}</span></p>
}

/** The API's prefix, with a trailing slash. Files are two levels below it, even behind a proxy that rewrites paths. */
function apiBase (): string {
  return new URL('../../', import.meta.url).href
}

/** Links to the parts of the portal, if the session has more than one. */
function Sections () {
  const { keys, hasAgents, route, messages } = usePortal()
  const sections = [
    ['endpoints', messages.shell.title] as const,
    ...keys === null ? [] : [['keys', messages.keys.title] as const],
    ...hasAgents ? [['agents', messages.agents.title] as const] : []
  ]
  if (sections.length === 1) return null
  return (
    <nav class='sections' aria-label={messages.shell.sections}>
      {sections.map(([screen, label]) => (
        <Link key={screen} to={{ screen }} look='section-link' isCurrent={route.screen === screen}>{label}</Link>
      ))}
    </nav>
  )
}

/** The screen of the route. The key resets its state for another webhook. */
function CurrentScreen () {
  const { route, can, keys, hasAgents } = usePortal()
  switch (route.screen) {
    case 'create':
      return can('write') && can('secrets') ? <CreateScreen /> : <EndpointsScreen />
    case 'edit':
      return can('write')
        ? <EditScreen key={route.id} id={route.id} />
        : <EndpointScreen key={route.id} id={route.id} />
    case 'endpoint':
      return <EndpointScreen key={route.id} id={route.id} />
    case 'delivery':
      return <DeliveryScreen key={`${route.id}/${route.deliveryId}`} id={route.id} deliveryId={route.deliveryId} />
    case 'keys':
      return keys === null ? <EndpointsScreen /> : <KeysScreen />
    case 'newKey':
      return keys === null ? <EndpointsScreen /> : <CreateKeyScreen />
    case 'agents':
      return hasAgents ? <AgentsScreen /> : <EndpointsScreen />
    default:
      return <EndpointsScreen />
  }
}

/** Defines `<recruiting-webhooks>`, once. */
export function define (config: PageConfig): void {
  if (customElements.get('recruiting-webhooks') === undefined) {
    customElements.define('recruiting-webhooks', elementWith(config))
  }
}

/** Our own page sets the attribute `config`. A host's page sets `src`, the URL of a session. */
function elementWith (config: PageConfig) {
  return class RecruitingWebhooks extends HTMLElement {
    static observedAttributes = ['src']

    #sessions: SessionManager | null = null
    #stop = () => {}

    connectedCallback (): void {
      this.#start()
      addEventListener('pagehide', this.#forget)
      addEventListener('pageshow', this.#restore)
    }

    disconnectedCallback (): void {
      removeEventListener('pagehide', this.#forget)
      removeEventListener('pageshow', this.#restore)
      this.#stop()
    }

    #start (): void {
      const isOwnPage = this.hasAttribute('config')
      this.#sessions ??= createSessionManager({
        first: isOwnPage ? takeSession(config) : this.#takeSrc(),
        returnUrl: isOwnPage ? findReturnUrl(config.returnOrigins) : null,
        ask: () => isOwnPage ? askParent(config.origins) : this.#ask(),
        now: Date.now,
        later: startTimer
      })
      const sessions = this.#sessions
      const stops = isOwnPage ? [listen(config, sessions), keepReturnUrl(sessions)] : []
      const root = this.shadowRoot ?? this.attachShadow({ mode: 'open' })
      render(<App host={this} config={config} sessions={sessions} isOwnPage={isOwnPage} />, root)
      this.#stop = () => {
        for (const stop of stops) stop()
        render(null, root)
      }
    }

    /** Browsers keep whole pages for the Back button. */
    #forget = (): void => {
      this.#stop()
      this.#sessions?.close()
      this.#sessions = null
    }

    #restore = ({ persisted }: PageTransitionEvent): void => {
      if (persisted) this.#start()
    }

    attributeChangedCallback (): void {
      const session = this.#sessions === null ? null : this.#takeSrc()
      if (session !== null) this.#sessions?.accept(session)
    }

    /** Removes the session from the document, which other tools may record. */
    #takeSrc () {
      const src = this.getAttribute('src')
      if (src === null) return null
      this.removeAttribute('src')
      return readSession(src, config.returnOrigins)
    }

    #ask (): boolean {
      return this.dispatchEvent(new CustomEvent('session-needed', { bubbles: true, composed: true }))
    }
  }
}

function startTimer (callback: () => void, delayMs: number): () => void {
  const timer = setTimeout(callback, delayMs)
  return () => clearTimeout(timer)
}

/** Removes the session from the page's URL, because URLs are copied and kept in the history. */
function takeSession ({ returnOrigins }: PageConfig, hash = '#/') {
  const session = readSession(location.hash, returnOrigins)
  if (session === null) return null
  history.replaceState(null, '', `${location.pathname}${location.search}${hash}`)
  // Accessible only if the embedding page has the same origin. Only the fragment changes, so nothing reloads.
  frameElement?.setAttribute('src', location.href)
  return session
}

const returnKey = 'recruiting-webhooks:return'

/** Returns `sessionStorage`, or `null` if the browser blocks it, for example in a frame on another site. */
function tabStorage (): Storage | null {
  try {
    return sessionStorage
  } catch {
    return null
  }
}

/** Returns the return URL of this tab's last session, for a reloaded page. */
function findReturnUrl (returnOrigins: readonly string[]): string | null {
  return readReturnUrl(tabStorage()?.getItem(returnKey) ?? null, returnOrigins)
}

/** Stores the return URL of each session that the API has accepted. Returns a function that stops it. */
function keepReturnUrl (sessions: SessionManager): () => void {
  return sessions.watch(() => {
    const url = sessions.returnUrl()
    if (url === null) tabStorage()?.removeItem(returnKey)
    else tabStorage()?.setItem(returnKey, url)
  })
}

/** Listens for new sessions from the embedding page and in the URL. Returns a function that stops it. */
function listen (config: PageConfig, sessions: SessionManager): () => void {
  const onMessage = (event: MessageEvent) => {
    if (event.source !== parent || parent === window || !exactOrigins(config.origins).includes(event.origin)) return
    const { type, url } = Object(event.data)
    const session =
      type === 'recruiting-webhooks:session' && typeof url === 'string' ? readSession(url, config.returnOrigins) : null
    if (session !== null) sessions.accept(session)
  }
  // Captured, so that it runs before the route is read. The page keeps its screen and all input.
  const onHash = ({ oldURL }: HashChangeEvent) => {
    const session = takeSession(config, new URL(oldURL).hash)
    if (session !== null) sessions.offer(session)
  }
  const controller = new AbortController()
  addEventListener('message', onMessage, { signal: controller.signal })
  addEventListener('hashchange', onHash, { signal: controller.signal, capture: true })
  return () => controller.abort()
}

/** Asks the embedding page for a new session. Returns `false` if there is no page to ask. */
function askParent (origins: readonly string[]): boolean {
  if (parent === window) return false
  const [parentOrigin] = location.ancestorOrigins ?? []
  const asked = exactOrigins(origins).filter((origin) => parentOrigin === undefined || origin === parentOrigin)
  for (const origin of asked) parent.postMessage({ type: 'recruiting-webhooks:session-needed' }, origin)
  return asked.length > 0
}

function exactOrigins (origins: readonly string[]): string[] {
  return origins.map((origin) => origin === "'self'" ? location.origin : origin)
}

// On our own page, the configuration is an attribute.
const config = document.querySelector('recruiting-webhooks')?.getAttribute('config')
if (config != null) define(JSON.parse(config))
