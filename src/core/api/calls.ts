import type { Static, TSchema } from '@sinclair/typebox'
import type { Tenant } from '../ports/index.js'
import type { TenantArgument } from '../shared/tenants.js'
import type { InputOf } from '../shared/typebox.js'
import { deliveryOperations } from './deliveries.js'
import type { eventTypeOperations } from './events.js'
import type { Operation, Performed, ResultOf } from './operation.js'
import { webhookOperations } from './webhooks.js'

/** The operations that code can call, by their names in `app.recruiting.webhooks`. */
export const callOperations = { ...webhookOperations, ...deliveryOperations }

/** The operations that the engine performs. */
export interface EngineOperations extends Performed<typeof callOperations & typeof eventTypeOperations> {
  /** Returns the event types that the tenant's webhooks subscribe to, even if they have left the catalogue. */
  listUsedEventTypes (tenant: Pick<Tenant, 'id'>): Promise<ReadonlySet<string>>
}

/** The calls of operations from code. */
export type CallsOf<Operations> = { [Name in keyof Operations]: CallOf<Operations[Name]> }

type CallOf<Entry> = Entry extends Operation<infer Method, infer Path, infer Shape, infer Input>
  ? (tenant: TenantArgument, ...given: [...IdsIn<Path>, ...InputArgument<Method, Input>]) => Promise<
      Shape extends 'none' ? void : ResultOf<Entry> | (Method extends 'GET' ? Shape extends 'one' ? null : never : never)
    >
  : never

/** The ids in a path, as arguments. */
export type IdsIn<Path> = Path extends `${string}/:id/${string}/:delivery_id${string}`
  ? [id: number, deliveryId: number]
  : Path extends `${string}/:id${string}` ? [id: number] : []

/** The input as an argument, which is optional if all of its fields are. A change needs at least one. */
export type InputArgument<Method, Input extends TSchema> =
  keyof Static<Input> extends never ? []
    : Method extends 'PATCH' ? [input: InputOf<Input>]
      : Record<never, never> extends InputOf<Input> ? [input?: InputOf<Input> | undefined]
        : [input: InputOf<Input>]
