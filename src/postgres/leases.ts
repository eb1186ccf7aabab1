import type { Lease } from '../ports/index.js'

/** Leases as our functions take them: their fences and, in the same order, their deliveries. */
export function leaseValues (leases: readonly Lease[]): [number[], number[]] {
  return [leases.map(({ fence }) => fence), leases.map(({ deliveryId }) => deliveryId)]
}
