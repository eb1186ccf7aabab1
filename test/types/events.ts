import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import recruitingApi, {
  type KeyLookup, type RecruitingApiOptions, type RecruitingOptions, type RecruitingStorage,
  createRecruiting, defaultEvents
} from '../../src/index.js'

/* Compiled by `npm run types`, without `Register`. Each @ts-expect-error fails unless the next line is invalid. */

const events = { 'offer.signed': Type.Object({ id: Type.Integer() }) }
const signed = { tenantSlug: 'acme', type: 'offer.signed', data: { id: 1 } } as const
const created = { tenantSlug: 'acme', type: 'application.created', data: { id: 1 } } as const

/** Without `Register`, the plugin and `emit` accept only the default catalogue. */
export async function plugin (app: FastifyInstance, storage: RecruitingStorage, keyLookup: KeyLookup): Promise<void> {
  await app.register(recruitingApi, { storage, keyLookup })
  await app.register(recruitingApi, { storage, keyLookup, events: defaultEvents })
  // @ts-expect-error a catalogue that is not registered
  await app.register(recruitingApi, { storage, keyLookup, events })
  // @ts-expect-error a part of the default catalogue
  await app.register(recruitingApi, { storage, keyLookup, events: { 'application.created': defaultEvents['application.created'] } })
  await app.recruiting.emit(created)
  // @ts-expect-error not in the default catalogue
  await app.recruiting.emit(signed)
}

/** `createRecruiting` uses the catalogue that it gets. */
export async function standalone (storage: RecruitingStorage): Promise<void> {
  await createRecruiting({ storage, events }).emit(signed)
  // @ts-expect-error data of another type
  await createRecruiting({ storage, events }).emit({ ...signed, data: { id: 'one' } })
  // @ts-expect-error only in the default catalogue
  await createRecruiting({ storage, events }).emit(created)
  // @ts-expect-error not in the default catalogue
  await createRecruiting({ storage }).emit(signed)
  // @ts-expect-error a catalogue only as a type: at run time, it would be the default one
  createRecruiting<typeof events>({ storage })
}

// @ts-expect-error a catalogue only as a type
export const forgotten: RecruitingOptions<typeof events> = { storage: {} as RecruitingStorage }

/** With options of an unknown catalogue, `emit` accepts any name. */
export async function anyName (options: RecruitingOptions): Promise<void> {
  const recruiting = createRecruiting(options)
  await recruiting.emit(created)
  await recruiting.emit(signed)
}

export const ready: RecruitingApiOptions[] = [
  // A lookup returns a value or a promise.
  { storage: {} as RecruitingStorage, keyLookup: () => null },
  { storage: {} as RecruitingStorage, keyLookup: async () => ({ id: 'key-1', scopes: [] }), rateLimit: true },
  { storage: {} as RecruitingStorage, keyLookup: () => null, rateLimit: { timeWindow: '1 minute' } },
  // @ts-expect-error the plugin logs with app.log
  { storage: {} as RecruitingStorage, keyLookup: () => null, logger: console }
]

/** `createRecruiting` needs only webhooks and deliveries. The plugin also needs candidates and jobs. */
export async function storages ({ webhooks, deliveries }: RecruitingStorage): Promise<RecruitingApiOptions> {
  await createRecruiting({ storage: { webhooks, deliveries } }).emit(created)
  // @ts-expect-error no deliveries
  createRecruiting({ storage: { webhooks } })
  // @ts-expect-error no candidates and no jobs
  return { storage: { webhooks, deliveries }, keyLookup: () => null }
}
