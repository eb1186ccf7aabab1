import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import {
  type PortalMessages, type PortalOptions, type PortalSession, type PortalSessionInput, type Recruiting,
  type RecruitingStorage, createRecruiting
} from '../../src/index.js'
import { en } from '../../src/around/portal/messages.js'

/* Compiled by `npm run types`: each @ts-expect-error fails unless the next line is invalid. */

const portal: PortalOptions = { secretKeys: [Buffer.alloc(32)] }
const ada: PortalSessionInput = { tenantSlug: 'acme', actor: 'user:17', capabilities: ['read', 'write'], theme: { mode: 'dark' } }

/** The plugin and `createRecruiting` create sessions of the same type. */
export async function sessions (app: FastifyInstance, storage: RecruitingStorage): Promise<PortalSession> {
  const takes = async (recruiting: Pick<Recruiting, 'portal'>): Promise<PortalSession> => recruiting.portal.createSession(ada)
  await takes(app.recruiting)
  await app.recruiting.portal.createSession({ tenantSlug: 'acme', actor: 'user:17' })
  // @ts-expect-error a session without an actor
  await app.recruiting.portal.createSession({ tenantSlug: 'acme' })
  // @ts-expect-error an unknown capability
  await app.recruiting.portal.createSession({ ...ada, capabilities: ['admin'] })
  // @ts-expect-error an unknown mode
  await app.recruiting.portal.createSession({ ...ada, theme: { mode: 'auto' } })
  // @ts-expect-error a portal without keys
  createRecruiting({ storage, portal: {} })
  return takes(createRecruiting({ storage, portal }))
}

/** Routes can declare only known capabilities. */
export function routes (app: FastifyInstance): void {
  const schema = { response: { 200: Type.Object({}) } }
  app.post('/replays', { config: { scopes: [], capabilities: ['replay'] }, schema }, async () => ({}))
  // @ts-expect-error an unknown capability
  app.post('/writes', { config: { scopes: [], capabilities: ['writes'] }, schema }, async () => ({}))
}

/** Texts must be complete. */
export const french: PortalMessages = en
const { problem: _, ...rest } = en
// @ts-expect-error without the texts of problems
export const partial: PortalMessages = rest
