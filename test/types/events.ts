import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import recruitingApi, {
  type KeyLookup, type RecruitingApiOptions, type RecruitingOptions, type RecruitingStorage,
  createRecruiting, defaultEvents
} from '../../src/index.js'

/* Compiled by `npm run types`: each @ts-expect-error fails if what follows is no error. `Register` has no catalogue. */

const events = { 'offer.signed': Type.Object({ id: Type.Integer() }) }
const signed = { tenantSlug: 'acme', type: 'offer.signed', data: { id: 1 } } as const
const created = { tenantSlug: 'acme', type: 'application.created', data: { id: 1 } } as const

/** The plugin takes the default catalogue alone until `Register` names another, and `emit` the names of that. */
export async function plugin (app: FastifyInstance, storage: RecruitingStorage, keyLookup: KeyLookup): Promise<void> {
  await app.register(recruitingApi, { storage, keyLookup })
  await app.register(recruitingApi, { storage, keyLookup, events: defaultEvents })
  // @ts-expect-error a catalogue that is not registered
  await app.register(recruitingApi, { storage, keyLookup, events })
  // @ts-expect-error a part of the default catalogue
  await app.register(recruitingApi, { storage, keyLookup, events: { 'application.created': defaultEvents['application.created'] } })
  await app.recruiting.emit(created)
  // @ts-expect-error an event that the default catalogue does not have
  await app.recruiting.emit(signed)
}

/** An engine without a server has the catalogue that it is given. */
export async function standalone (storage: RecruitingStorage): Promise<void> {
  await createRecruiting({ storage, events }).emit(signed)
  // @ts-expect-error data of another type
  await createRecruiting({ storage, events }).emit({ ...signed, data: { id: 'one' } })
  // @ts-expect-error an event of the default catalogue
  await createRecruiting({ storage, events }).emit(created)
  // @ts-expect-error an event that the default catalogue does not have
  await createRecruiting({ storage }).emit(signed)
  // @ts-expect-error a catalogue by its type alone: when it runs it would be the default one
  createRecruiting<typeof events>({ storage })
}

// @ts-expect-error a catalogue by its type alone
export const forgotten: RecruitingOptions<typeof events> = { storage: {} as RecruitingStorage }

/** Options that tell nothing of their catalogue leave `emit` any name. */
export async function anyName (options: RecruitingOptions): Promise<void> {
  const recruiting = createRecruiting(options)
  await recruiting.emit(created)
  await recruiting.emit(signed)
}

export const ready: RecruitingApiOptions[] = [
  // A lookup answers at once or by a promise.
  { storage: {} as RecruitingStorage, keyLookup: () => null },
  { storage: {} as RecruitingStorage, keyLookup: async () => ({ id: 'key-1', scopes: [] }), rateLimit: true },
  { storage: {} as RecruitingStorage, keyLookup: () => null, rateLimit: { timeWindow: '1 minute' } },
  // @ts-expect-error the plugin logs with app.log
  { storage: {} as RecruitingStorage, keyLookup: () => null, logger: console }
]

/** Emitting and delivering need webhooks and deliveries alone; the plugin serves candidates and jobs too. */
export async function storages ({ webhooks, deliveries }: RecruitingStorage): Promise<RecruitingApiOptions> {
  await createRecruiting({ storage: { webhooks, deliveries } }).emit(created)
  // @ts-expect-error no deliveries
  createRecruiting({ storage: { webhooks } })
  // @ts-expect-error no candidates and no jobs
  return { storage: { webhooks, deliveries }, keyLookup: () => null }
}
