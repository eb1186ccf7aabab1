import './parts.css'
import './screens.css'
import { render } from 'preact'
import { App, type PageConfig } from './app.js'
import { tabStorage } from './draft.js'
import { type SessionManager, createSessionManager, readReturnUrl, readSession } from './session.js'

/** Defines `<recruiting-webhooks>`, once. */
export function define (config: PageConfig): void {
  if (customElements.get('recruiting-webhooks') === undefined) {
    customElements.define('recruiting-webhooks', elementWith(config))
  }
}

/** On the page that we serve it has the attribute `config`; on a page of the host, `src` with the URL of a session. */
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

/** Takes the session out of the page's address, because addresses are copied and kept in the history. */
function takeSession ({ returnOrigins }: PageConfig, hash = '#/') {
  const session = readSession(location.hash, returnOrigins)
  if (session === null) return null
  history.replaceState(null, '', `${location.pathname}${location.search}${hash}`)
  // Accessible only if the embedding page has the same origin. Only the fragment changes, so nothing reloads.
  frameElement?.setAttribute('src', location.href)
  return session
}

const returnKey = 'recruiting-webhooks:return'

/** Returns the link back of the last session in this tab, for a page that is loaded again. */
function findReturnUrl (returnOrigins: readonly string[]): string | null {
  return readReturnUrl(tabStorage().getItem(returnKey), returnOrigins)
}

/** Keeps the link back of each session that the API has accepted. Returns a function that stops it. */
function keepReturnUrl (sessions: SessionManager): () => void {
  return sessions.watch(() => {
    const url = sessions.returnUrl()
    if (url === null) tabStorage().removeItem(returnKey)
    else tabStorage().setItem(returnKey, url)
  })
}

/** Listens for further sessions: from the embedding page, and in the address. Returns a function that stops it. */
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

/** Asks the embedding page for another session; returns `false` if there is no page to ask. */
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

// On the page that we serve, the configuration is an attribute.
const config = document.querySelector('recruiting-webhooks')?.getAttribute('config')
if (config != null) define(JSON.parse(config))
