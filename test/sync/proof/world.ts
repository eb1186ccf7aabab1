import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import type { Random } from '../../../examples/demo/data/random.js'
import type pg from 'pg'
import { type OwnRows, type RecruitingStorage, defineList, recruitingApi } from '../../../src/index.js'
import { memoryKeyLookup } from '../../../src/storages/memory/index.js'

export const proofTenants = ['acme', 'globex'] as const
/** Applications are an own list. */
export const kinds = ['candidate', 'job', 'application'] as const
/** Items have ids from 1 to this. */
export const idCount = 1000

export type ProofTenant = typeof proofTenants[number]

export type ProofKind = typeof kinds[number]

/** The version of each item, by id. Each write assigns a version that is higher than all earlier ones. */
export type Versions = Map<number, number>

/** The tables that writers change and readers copy. */
export interface World {
  /** Makes some writes, possibly in a transaction. Returns their number. */
  write (random: Random): Promise<number>
  /** Returns the content of an exact copy. */
  read (tenantSlug: ProofTenant, kind: ProofKind): Promise<Versions>
  /** Resolves once no transaction is open. */
  settle (): Promise<void>
  /** Changes rows without recording the changes. Then calls `check`, while nobody writes. */
  damage? (check: () => Promise<void>): Promise<void>
  /** Starts an API server, on a free port if `port` is 0. */
  serve (port: number): Promise<ProofServer>
}

export interface ProofServer {
  port: number
  /** Stops it, and aborts requests in flight. */
  kill (): Promise<void>
}

/** Items that no writer touches: a complete read must contain them. */
export function isQuiet (id: number): boolean {
  return id % 10 === 0
}

export function keyOf (tenantSlug: ProofTenant): string {
  return `${tenantSlug}-key`
}

const fields = Type.Object({ version: Type.Integer(), updated_at: Type.String() })

const applications = defineList(Type.Object({ id: Type.Integer(), version: Type.Integer() }), { kind: 'application', sort: ['id'] })

export type Applications = OwnRows<{ id: number, version: number }>

/** Reads the view `api_applications`. */
export function readApplications (pool: pg.Pool): Applications {
  const read = async (rest: string, values: unknown[]) =>
    (await pool.query(`select id::int, version from api_applications where tenant_slug = $1 and ${rest}`, values)).rows
  return {
    listAfter: (tenant, { after, limit }) =>
      read('id > $2 order by api_applications.id limit $3', [tenant, after ?? 0, limit]),
    findMany: (tenant, ids) => read('id = any ($2)', [tenant, ids])
  }
}

/** Serves a storage in this process. */
export async function serveStorage (
  storage: RecruitingStorage, port: number, rows: Applications
): Promise<ProofServer> {
  const app = Fastify({ forceCloseConnections: true })
  await app.register(recruitingApi, {
    storage,
    keyLookup: memoryKeyLookup(proofTenants.map((tenantSlug) => ({
      key: keyOf(tenantSlug), tenantSlug, scopes: ['candidates:read', 'jobs:read', 'webhooks:read']
    }))),
    candidateFields: fields,
    jobFields: fields,
    delivery: false,
    async routes (app) {
      app.get('/applications/sync', {
        config: { scopes: ['jobs:read'] }, schema: { querystring: applications.sync.query, response: { 200: applications.sync.page } }
      }, (request) => applications.sync.read(request, rows))
    }
  })
  const address = await app.listen({ port, host: '127.0.0.1' })
  return { port: Number(new URL(address).port), kill: () => app.close() }
}
