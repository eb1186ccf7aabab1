import type { Hold, HoldStore } from '../ports/index.js'
import { heldError } from '../shared/held.js'
import { notify, stopDeliveries, type WebhookData } from './webhook-data.js'

/** The environment that a storage belongs to. Memory is never a copy. */
export class Home {
  readonly #now: () => number
  #environment: string | null = null
  /** When each other environment was first noticed. */
  readonly #others = new Map<string, string>()

  constructor (now: () => number) {
    this.#now = now
  }

  findHold (environment: string | null): Hold | null {
    if (environment === null || this.#environment === null || environment === this.#environment) return null
    const since = this.#others.get(environment) ?? new Date(this.#now()).toISOString()
    this.#others.set(environment, since)
    return { reason: 'environment', since }
  }

  /** The first environment stays. Throws `held` for others. */
  enter (environment: string | null): void {
    const hold = this.findHold(environment)
    if (hold !== null) throw heldError(hold.reason)
    this.#environment ??= environment
  }

  move (environment: string | null): void {
    this.#environment = environment
    this.#others.clear()
  }
}

/** Memory is never a copy, so only the environment counts. */
export function createHoldStore (data: WebhookData): HoldStore {
  return {
    async find (environment) {
      return data.home.findHold(environment)
    },

    async adopt ({ environment, pending }) {
      const hold = data.home.findHold(environment)
      if (hold === null) return null
      const adopted = { reason: hold.reason, pending: data.pending.stats(data.now()).pending }
      if (pending === 'discard') {
        for (const { webhooks } of data.tenants.values()) for (const webhook of webhooks.values()) stopDeliveries(data, webhook, 'skipped')
        data.notices.clear()
      }
      data.home.move(environment)
      notify(data)
      return adopted
    }
  }
}
