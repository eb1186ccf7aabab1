import type { Lease } from '../../ports/index.js'
import { notify } from '../webhook-data.js'
import type { WebhookData } from '../webhook-data.js'

export function release (data: WebhookData, leases: readonly Lease[]): void {
  let mayBeDue = false
  for (const { deliveryId, fence } of leases) {
    const delivery = data.deliveries.get(deliveryId)
    if (delivery === undefined || delivery.fence !== fence) continue

    if (delivery.lease === 'held') {
      data.pending.remove(delivery)
      data.pending.add(delivery)
      mayBeDue = true
    }
    delivery.lease = 'none'
  }
  if (mayBeDue) notify(data)
}
