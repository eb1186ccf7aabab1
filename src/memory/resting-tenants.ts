import type { RestingTenant } from '../ports/index.js'
import { tenantResting } from '../shared/tenants.js'
import { formatDateTime } from './checks.js'

/** The tenants that rest, with the end of their rest. */
export class RestingTenants {
  readonly #ends = new Map<string, number>()
  readonly #now: () => number

  constructor (now: () => number) {
    this.#now = now
  }

  add (tenant: string, restSeconds: number): void {
    if (restSeconds > 0) this.#ends.set(tenant, this.#now() + restSeconds * 1000)
  }

  has (tenant: string): boolean {
    return this.list().some(({ tenantId }) => tenantId === tenant)
  }

  /** Throws `tenant_resting`. */
  assertAwake (tenant: string): void {
    const resting = this.list().find(({ tenantId }) => tenantId === tenant)
    if (resting !== undefined) throw tenantResting(tenant, resting.until)
  }

  list (): RestingTenant[] {
    for (const [tenant, end] of this.#ends) if (end <= this.#now()) this.#ends.delete(tenant)
    return [...this.#ends].map(([tenantId, end]) => ({ tenantId, until: formatDateTime(end) }))
  }
}
