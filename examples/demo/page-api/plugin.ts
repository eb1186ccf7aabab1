import type { FastifyPluginAsync } from 'fastify'
import { findReadOnlyKey } from '../ats/keys.js'
import { hasMcp } from '../ats/server.js'
import { describeRetries } from '../ats/retries.js'
import { candidateApplies, candidateIsHired } from '../business/applications.js'
import type { Background } from '../business/background.js'
import type { Action, Office } from '../business/office.js'
import { jobStatuses } from '../data/jobs.js'
import { sources } from '../data/sources.js'
import { type Mode, type Receiver, modes } from '../receiver/receiver.js'
import { agentSessions } from './agent.js'
import { body } from './body.js'
import type { Feed, StateEntry } from './feed.js'
import { pageFiles } from './files.js'
import { forge } from './forge.js'
import { portalSessions } from './portal.js'
import { feedStream } from './stream.js'

export interface PageParts {
  offices: readonly Office[]
  receiver: Receiver
  background: Background
  feed: Feed
  /** Serves Swagger UI; `null` if it is not installed. */
  referencePage: FastifyPluginAsync | null
  onNews: (tenantSlug: string, sentence: string) => void
  reset: () => void
}

const actions: Record<string, Action> = { application: candidateApplies, hire: candidateIsHired }

/**
 * Serves the page and its routes: the feed, the ATS's buttons, the switches, and portal sessions. The page reads
 * records from the API, like any customer.
 */
export function demoPage ({
  offices,
  receiver,
  background,
  feed,
  referencePage,
  onNews,
  reset
}: PageParts): FastifyPluginAsync {
  const tenantSlugs = offices.map(({ tenant }) => tenant.slug)
  const readState = (): StateEntry => ({ kind: 'state', modes: receiver.readModes(), isPaused: background.isPaused })

  return async (app) => {
    await app.register(pageFiles)
    if (referencePage !== null) await app.register(referencePage)
    await app.register(feedStream(feed, readState))
    await app.register(portalSessions(tenantSlugs))
    const hasAgents = await hasMcp()
    if (hasAgents) await app.register(agentSessions(tenantSlugs))

    app.get('/demo/setting', async () => ({
      receiverUrl: receiver.url,
      retries: describeRetries().join(' '),
      hasReferencePage: referencePage !== null,
      hasAgents,
      jobStatuses,
      sources,
      tenants: offices.map(({ tenant: { slug, recruiters } }) => ({ slug, recruiters, key: findReadOnlyKey(slug) }))
    }))

    app.post<{ Params: { tenant: string; action: string } }>(
      '/demo/happen/:tenant/:action',
      async ({ params }, reply) => {
        const office = offices.find(({ tenant }) => tenant.slug === params.tenant)
        const action = actions[params.action]
        if (office === undefined || action === undefined) {
          return reply.code(404).send({ sentence: 'This button does not exist' })
        }
        const sentence = await action(office)
        onNews(params.tenant, sentence)
        return { sentence }
      }
    )

    app.post<{ Body: { tenant: string; secret: string } }>(
      '/demo/receiver/trust',
      {
        schema: body({
          tenant: { enum: tenantSlugs },
          secret: { type: 'string', pattern: '^whsec_[A-Za-z0-9+/]{43}=$' }
        })
      },
      async ({ body: { tenant, secret } }) => {
        receiver.trust(tenant, secret)
        return {}
      }
    )

    app.post<{ Body: { tenant: string; mode: Mode } }>(
      '/demo/receiver/mode',
      {
        schema: body({ tenant: { enum: tenantSlugs }, mode: { enum: modes } })
      },
      async ({ body: { tenant, mode } }) => {
        receiver.setMode(tenant, mode)
        feed.publish(readState())
        return {}
      }
    )

    app.post<{ Body: { tenant: string } }>(
      '/demo/receiver/forge',
      {
        schema: body({ tenant: { enum: tenantSlugs } })
      },
      async ({ body: { tenant } }) => ({ status: await forge(receiver.url, tenant) })
    )

    app.post<{ Body: { isPaused: boolean } }>(
      '/demo/background',
      {
        schema: body({ isPaused: { type: 'boolean' } })
      },
      async ({ body: { isPaused } }) => {
        background.isPaused = isPaused
        feed.publish(readState())
        return {}
      }
    )

    // Resets only after the response is sent, because the reset closes this server.
    app.post('/demo/reset', { onResponse: async () => reset() }, async () => ({}))
  }
}
