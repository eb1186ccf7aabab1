import type { Tenant } from '../ports/index.js'
import type { TenantArgument } from '../shared/tenants.js'
import { deliveryOperations } from './deliveries.js'
import type { eventTypeOperations } from './events.js'
import type { IdsIn, InputArgument, Operation, Performed, ResultOf } from './operation.js'
import { webhookOperations } from './webhooks.js'

/** The operations that code can call, by their names in `app.recruiting.webhooks`. */
export const callOperations = { ...webhookOperations, ...deliveryOperations }

export interface EngineOperations extends Performed<typeof callOperations & typeof eventTypeOperations> {
  /** Returns the event types that the tenant's webhooks subscribe to, even if they have left the catalogue. */
  listUsedEventTypes (tenant: Pick<Tenant, 'id'>): Promise<ReadonlySet<string>>
}

export type CallsOf<Operations> = { [Name in keyof Operations]: CallOf<Operations[Name]> }

type CallOf<Entry> = Entry extends Operation<infer Method, infer Path, infer Shape, infer Input>
  ? (tenant: TenantArgument, ...given: [...IdsIn<Path>, ...InputArgument<Method, Input>]) => Promise<
      Shape extends 'none' ? void : ResultOf<Entry> | (Method extends 'GET' ? Shape extends 'one' ? null : never : never)
    >
  : never
