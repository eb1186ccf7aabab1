import { render } from 'preact'
import { App } from './app.js'
import type { PageConfig } from './config.js'
import { readSession } from './session/fragment.js'
import { type SessionKeeper, createKeeper } from './session/keeper.js'
import { askParent, listen, takeSession } from './session/page-session.js'

/** Defines `<recruiting-webhooks>`, once. */
export function define (config: PageConfig): void {
  if (customElements.get('recruiting-webhooks') === undefined) customElements.define('recruiting-webhooks', elementWith(config))
}

/** In a page of our own it has the attribute `config`; in a page of the host, `src` with the URL of a session. */
function elementWith (config: PageConfig) {
  return class RecruitingWebhooks extends HTMLElement {
    static observedAttributes = ['src']

    #keeper: SessionKeeper | null = null
    #stop = () => {}

    connectedCallback (): void {
      const isOwnPage = this.hasAttribute('config')
      this.#keeper ??= createKeeper({
        first: isOwnPage ? takeSession() : this.#takeSrc(),
        ask: () => isOwnPage ? askParent(config.origins) : this.#ask(),
        now: Date.now,
        later: startTimer
      })
      const keeper = this.#keeper
      const stopListening = isOwnPage ? listen(config.origins, keeper.accept) : () => {}
      const root = this.shadowRoot ?? this.attachShadow({ mode: 'open' })
      render(<App host={this} config={config} keeper={keeper} isOwnPage={isOwnPage} />, root)
      this.#stop = () => {
        stopListening()
        render(null, root)
      }
    }

    disconnectedCallback (): void {
      this.#stop()
    }

    attributeChangedCallback (): void {
      const session = this.#keeper === null ? null : this.#takeSrc()
      if (session !== null) this.#keeper?.accept(session)
    }

    /** Takes the session out of the document, which other tools record. */
    #takeSrc () {
      const src = this.getAttribute('src')
      if (src === null) return null
      this.removeAttribute('src')
      return readSession(src)
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
