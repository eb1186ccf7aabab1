import type { FastifyPluginAsync } from 'fastify'
import { openDatabase } from './ats/database.js'
import { findFullKey } from './ats/keys.js'
import { createAts } from './ats/server.js'
import { createBackground } from './business/background.js'
import { openOffice } from './business/office.js'
import type { Print } from './console.js'
import { createRandom } from './data/random.js'
import { createTenants } from './data/tenants.js'
import { Feed } from './page-api/feed.js'
import { demoPage } from './page-api/plugin.js'
import { type Receiver, startReceiver } from './receiver/receiver.js'
import { subscribe } from './receiver/subscribe.js'
import type { WelcomeParts } from './welcome.js'

export interface RunOptions {
  /** Port of the API; 0 for any free port. */
  port: number
  /** Port of the webhook receiver; 0 for any free port. */
  receiverPort: number
  /** A PostgreSQL database; `null` for memory. */
  databaseUrl: string | null
  /** Serves Swagger UI; `null` if it is not installed. */
  referencePage: FastifyPluginAsync | null
  /** Milliseconds between background actions. */
  everyMs: number
  print: Print
}

/** Everything between one start and the next reset. */
export interface Run extends WelcomeParts {
  /** Starts the background actions. */
  begin (): void
  close (): Promise<void>
}

/** Starts the ATS, its tenants' receiver, and the page. */
export async function startRun (
  { port, receiverPort, databaseUrl, referencePage, everyMs, print }: RunOptions,
  reset: () => void
): Promise<Run> {
  const closers: Array<() => unknown> = []
  const closeLater = <T>(part: T, close: (part: T) => unknown): T => {
    closers.unshift(() => close(part))
    return part
  }
  // In reverse order, so that deliveries in flight still reach the receiver while the ATS closes.
  async function close (): Promise<void> {
    for (const closer of closers) await closer()
  }

  try {
    const feed = new Feed()
    const announce = (tenantSlug: string, sentence: string, isBackground: boolean): void => {
      print('ats', tenantSlug, sentence)
      feed.publish({ kind: 'news', tenantSlug, sentence, isBackground })
    }
    const tenants = createTenants(Date.now())
    const database = closeLater(await openDatabase(tenants, databaseUrl), (part) => part.close())
    const receiver = closeLater(
      await startReceiver({
        port: receiverPort,
        tenantSlugs: tenants.map(({ slug }) => slug),
        stumbleEvery: 10,
        print,
        onArrival: (arrival) => feed.publish({ kind: 'arrival', ...arrival })
      }),
      (part) => part.close()
    )
    const ats = closeLater(await createAts(database, print), (part) => part.close())
    const offices = tenants.map((tenant, index) =>
      openOffice({ tenant, database, recruiting: ats.recruiting, random: createRandom(100 + index) })
    )
    const background = closeLater(
      createBackground(offices, {
        everyMs,
        onNews: (tenantSlug, sentence) => announce(tenantSlug, sentence, true)
      }),
      (part) => part.stop()
    )
    await ats.register(
      demoPage({
        offices,
        receiver,
        background,
        feed,
        referencePage,
        reset,
        onNews: (tenantSlug, sentence) => announce(tenantSlug, sentence, false)
      })
    )
    const pageUrl = await ats.listen({ host: '127.0.0.1', port })
    const apiUrl = `${pageUrl}/api/v1/public`
    const webhookIds: number[] = []
    for (const { slug } of tenants) webhookIds.push(await connect(apiUrl, slug, receiver))
    return {
      pageUrl,
      apiUrl,
      receiverUrl: receiver.url,
      hasReferencePage: referencePage !== null,
      tenants,
      webhookId: webhookIds[0] ?? 0,
      begin: () => background.start(),
      close
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Creates a webhook of the tenant to the receiver, and returns its id. */
async function connect (apiUrl: string, tenantSlug: string, receiver: Receiver): Promise<number> {
  const { id, secret } = await subscribe({
    apiUrl,
    tenantSlug,
    key: findFullKey(tenantSlug),
    targetUrl: `${receiver.url}/${tenantSlug}`
  })
  receiver.trust(tenantSlug, secret)
  return id
}
