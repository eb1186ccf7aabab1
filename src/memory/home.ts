import type { Hold } from '../ports/index.js'
import { heldError } from '../errors.js'

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
