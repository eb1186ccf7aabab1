import type { DeliveryWithAttempts } from '../../ports/index.js'
import { type Context, RefusedError } from '../command.js'
import { type Target, findTarget, openStorage, readId } from '../webhooks/find.js'

/** A delivery and its webhook. */
export interface FoundDelivery {
  target: Target
  delivery: DeliveryWithAttempts
}

/** Finds the delivery that the argument names, of the webhook of `--webhook`. */
export async function findDelivery (context: Context): Promise<FoundDelivery> {
  const { args: [given = ''], flags } = context
  const deliveryId = readId('ID', given)
  const target = await findTarget(context, '--webhook', flags.required('webhook'))
  const delivery = await openStorage(context).deliveries.find(target.tenantSlug, target.id, deliveryId)
  if (delivery === null) throw new RefusedError(`ID: the webhook ${target.id} has no delivery ${deliveryId}`)
  return { target, delivery }
}
