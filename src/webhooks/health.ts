import type { Clock, DeliveryStore, Hold, TenantDeliveryStats } from '../ports/index.js'
import { readInput, unread } from '../shared/read-options.js'
import { type TenantReference, type Tenants, readTenant } from '../shared/tenants.js'
import type { Worker } from './queue/worker.js'
import type { EngineCalls, RecruitingStats } from './recruiting.js'

/** The health of a process that emits or delivers. */
export interface RecruitingHealth {
  /**
   * Whether the process does its work: it has not stopped, and if it delivers, the storage has answered a claim
   * within the last 30 seconds and `delivery.pollMs`. A claim is not needed while all slots are in use.
   */
  alive: boolean
  /** When the storage last answered a claim of this process, in RFC 3339; `null` if it never did. */
  lastClaimAt: string | null
  /**
   * Milliseconds since the oldest due delivery of all processes became due; 0 if none is due, `null` if the process has
   * stopped or the storage does not answer.
   */
  oldestDueMs: number | null
  /** Why nothing is sent, as in `stats`; `null` if nothing is held, or if it cannot be known now. */
  held: Hold | null
  /** Attempts of this process that are in flight. */
  inFlight: number
}

interface Dependencies {
  deliveries: Pick<DeliveryStore, 'stats'>
  /** `null` in a process that does not deliver. */
  worker: Pick<Worker, 'inFlight' | 'lastClaimAt' | 'lastTurnAt'> | null
  findHold: () => Promise<Hold | null>
  clock: Pick<Clock, 'monotonic'>
  pollMs: number
}

const patienceMs = 30_000

/** Reads the health of an engine. Never rejects. */
export async function readHealth (
  { deliveries, worker, findHold, clock, pollMs }: Dependencies,
  isStopped: boolean
): Promise<RecruitingHealth> {
  const [oldestDueMs, held] = isStopped
    ? [null, null]
    : await Promise.all([readLag(deliveries), findHold().catch(() => null)])
  const isDelivering = worker === null || clock.monotonic() - worker.lastTurnAt <= pollMs + patienceMs
  const lastClaimAt = worker?.lastClaimAt ?? null
  return {
    alive: !isStopped && isDelivering,
    lastClaimAt: lastClaimAt === null ? null : new Date(lastClaimAt).toISOString(),
    oldestDueMs,
    held,
    inFlight: worker?.inFlight ?? 0
  }
}

async function readLag (deliveries: Pick<DeliveryStore, 'stats'>): Promise<number | null> {
  try {
    return (await deliveries.stats()).oldestDueMs
  } catch {
    return null
  }
}

interface StatsDependencies {
  assertOpen (): void
  deliveries: Pick<DeliveryStore, 'tenantStats'>
  tenants: Tenants
}

/** Returns the call `stats`: without a tenant it reads the figures of all of them. */
export function createStats (
  { assertOpen, deliveries, tenants }: StatsDependencies,
  readAll: () => Promise<RecruitingStats>
): EngineCalls['stats'] {
  function stats (): Promise<RecruitingStats>
  function stats (of: TenantReference): Promise<TenantDeliveryStats>
  async function stats (of?: TenantReference): Promise<RecruitingStats | TenantDeliveryStats> {
    assertOpen()
    if (of === undefined) return readAll()
    const tenant = readTenant(readInput(of, { tenantSlug: unread, tenantId: unread }))
    return deliveries.tenantStats(await tenants.getId(tenant))
  }
  return stats
}
