import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { candidateApplies, candidateIsHired } from '../business/applications.js'
import type { Print } from '../console.js'
import type { Feed, TimedMessage } from './feed.js'
import { jobStatuses } from '../data/jobs.js'
import { fullKeys } from '../ats/keys.js'
import type { Action, Office } from '../business/office.js'
import type { Receiver } from '../receiver/receiver.js'

export interface PageParts {
  offices: readonly Office[]
  receiver: Receiver
  feed: Feed
  print: Print
}

/** What can be made to happen by a button. */
const actions: Record<string, Action> = { application: candidateApplies, hire: candidateIsHired }

/**
 * The page in page/, and the little that it needs besides the API: what happens, buttons for the ATS, and a say in the
 * receiver. Everything else it does is done by requests to the API that any customer could make.
 */
export function demoPage ({ offices, receiver, feed, print }: PageParts): FastifyPluginAsync {
  const findOffice = (slug: string): Office | undefined => offices.find(({ tenant }) => tenant.slug === slug)

  return async (app) => {
    await app.register(fastifyStatic, {
      root: fileURLToPath(new URL('../page', import.meta.url)),
      // Every byte from here: the browser sees to it.
      setHeaders: (reply) => { reply.header('content-security-policy', "default-src 'self'") }
    })
    await app.register(referencePage)

    app.get('/demo/setting', async () => ({
      receiverUrl: receiver.url,
      jobStatuses,
      tenants: fullKeys.map(({ tenantSlug: slug, key }) => ({ slug, key, recruiterIds: findOffice(slug)?.tenant.recruiterIds }))
    }))

    app.post<{ Params: { tenant: string, action: string } }>('/demo/happen/:tenant/:action', async ({ params }, reply) => {
      const office = findOffice(params.tenant)
      const action = actions[params.action]
      if (office === undefined || action === undefined) return reply.code(404).send({ sentence: 'There is no such button' })
      const sentence = await action(office) ?? 'Nobody is left for this: make a new application first'
      print('ats', params.tenant, sentence)
      return { sentence }
    })

    app.post<{ Body: { path: string, secret: string } }>('/demo/receiver/trust', async ({ body: { path, secret } }) => {
      receiver.trust(path, secret)
      return {}
    })
    app.post<{ Body: { seconds: number } }>('/demo/receiver/fail', async ({ body: { seconds } }) => {
      receiver.fail(seconds)
      return {}
    })
    // By somebody who knows the address and not the secret.
    app.post<{ Body: { path: string } }>('/demo/receiver/forge', async ({ body: { path } }) => {
      const { status } = await fetch(`${receiver.url}/${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'webhook-id': 'evt_forged',
          'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
          'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}`
        },
        body: JSON.stringify({ id: 'evt_forged', type: 'application.hired', tenant_slug: path.split('/')[0], data: { salary: 1e9 } })
      })
      return { status }
    })

    const readers = new Set<FastifyReply>()
    app.get('/demo/feed', async (request, reply) => {
      reply.hijack()
      reply.raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
      const seen = Number(request.headers['last-event-id'] ?? 0)
      const send = (message: TimedMessage): unknown => reply.raw.write(`id: ${message.number}\ndata: ${JSON.stringify(message)}\n\n`)
      feed.recent.filter(({ number }) => number > seen).forEach(send)
      reply.raw.write('event: caught-up\ndata: 1\n\n')
      const stop = feed.listen(send)
      readers.add(reply)
      request.raw.once('close', () => {
        stop()
        readers.delete(reply)
      })
    })
    // Or closing would wait for pages that are left open.
    app.addHook('preClose', async () => { for (const reader of readers) reader.raw.end() })
  }
}

/** Swagger UI over the document of the API; see examples/06-reference-page.ts. */
const referencePage: FastifyPluginAsync = async (app) => {
  const files = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')))
  await app.register(fastifyStatic, { root: files, prefix: '/reference/', decorateReply: false })
  app.get('/reference/swagger-initializer.js', (_request, reply) => reply.type('text/javascript').send(
    "SwaggerUIBundle({ dom_id: '#swagger-ui', url: '/api/v1/public/openapi.json', validatorUrl: null })"
  ))
}
