import type { WebhookRecord } from '../records.js'

/** Webhooks in the order of their turns: tenants take turns, then the webhooks of each. */
export class Turns {
  readonly #tenants = new Map<string, Set<WebhookRecord>>()

  /** Adds a webhook as the last of its tenant. */
  add (webhook: WebhookRecord): void {
    const webhooks = this.#tenants.get(webhook.tenant)
    if (webhooks === undefined) this.#tenants.set(webhook.tenant, new Set([webhook]))
    else webhooks.add(webhook)
  }

  delete (webhook: WebhookRecord): void {
    const webhooks = this.#tenants.get(webhook.tenant)
    webhooks?.delete(webhook)
    if (webhooks?.size === 0) this.#tenants.delete(webhook.tenant)
  }

  /** Moves the webhooks of a tenant to its new name, before their `tenant` changes. */
  renameTenant (from: string, to: string): void {
    const webhooks = this.#tenants.get(from)
    if (webhooks === undefined) return
    this.#tenants.delete(from)
    this.#tenants.set(to, webhooks)
  }

  * [Symbol.iterator] (): Generator<WebhookRecord> {
    for (const webhooks of this.#tenants.values()) yield * webhooks
  }

  /**
   * Takes something of one webhook of each tenant in turn, until no webhook has anything. The next call continues
   * there.
   */
  * take<Item> (takeOf: (webhook: WebhookRecord) => Item | undefined): Generator<Item> {
    // After its turn a tenant or a webhook moves to the end, so that these loops visit it again.
    for (const [tenant, webhooks] of this.#tenants) {
      for (const webhook of webhooks) {
        const item = takeOf(webhook)
        if (item === undefined) continue
        webhooks.delete(webhook)
        webhooks.add(webhook)
        this.#tenants.delete(tenant)
        this.#tenants.set(tenant, webhooks)
        yield item
        break
      }
    }
  }
}
