import { createAts } from './ats/server.js'
import type { Print } from './console.js'
import { openDatabase } from './ats/database.js'
import { Feed } from './page-api/feed.js'
import { startHappenings } from './business/background.js'
import { fullKeys } from './ats/keys.js'
import { openOffice } from './business/office.js'
import { demoPage } from './page-api/plugin.js'
import { createRandom } from './data/random.js'
import { type Receiver, startReceiver } from './receiver/receiver.js'
import { subscribe } from './receiver/subscribe.js'
import { createTenants } from './data/tenants.js'
import { formatWelcome } from './welcome.js'

export interface DemoOptions {
  /** Of the API; 0 for any that is free. */
  port: number
  /** Of the server that the webhooks point to; 0 for any that is free. */
  receiverPort: number
  /** Where everything is kept; `null` for memory. */
  databaseUrl: string | null
  /** How often something happens. */
  everyMs: number
  print: Print
  /** Takes what is to be read first. */
  welcome: (text: string) => void
}

export interface Demo {
  pageUrl: string
  apiUrl: string
  receiverUrl: string
  close (): Promise<void>
}

/** Starts an ATS, the receiver of its tenants, the daily business that makes events, and a page that shows all of it. */
export async function startDemo ({ port, receiverPort, databaseUrl, everyMs, print: printLine, welcome }: DemoOptions): Promise<Demo> {
  const tenants = createTenants(Date.now())
  const database = await openDatabase(tenants, databaseUrl)
  const feed = new Feed()
  const print = feed.alsoTelling(printLine)
  const receiver = await startReceiver({ port: receiverPort, stumbleEvery: 10, print, feed })
  const ats = await createAts(database, print)
  const unwatch = feed.watchAttempts()
  async function close (): Promise<void> {
    // The ATS first, so that deliveries under way still find their receiver.
    await ats.close()
    await receiver.close()
    await database.close()
    unwatch()
  }
  try {
    const offices = tenants.map((tenant, index) =>
      openOffice({ tenant, database, recruiting: ats.recruiting, random: createRandom(100 + index) }))
    await ats.register(demoPage({ offices, receiver, feed, print }))
    const pageUrl = await ats.listen({ host: '127.0.0.1', port })
    const apiUrl = `${pageUrl}/api/v1/public`
    const webhookId = await connect(apiUrl, receiver)
    welcome(formatWelcome({ pageUrl, apiUrl, receiverUrl: receiver.url, tenants, webhookId }))
    const happenings = startHappenings(offices, { everyMs, print })
    return {
      pageUrl,
      apiUrl,
      receiverUrl: receiver.url,
      async close () {
        await happenings.stop()
        await close()
      }
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Points a webhook of each tenant at the receiver; returns the id of acme's. */
async function connect (apiUrl: string, receiver: Receiver): Promise<number> {
  const ids: number[] = []
  for (const { tenantSlug, key } of fullKeys) {
    const webhook = await subscribe({ apiUrl, tenantSlug, key, targetUrl: `${receiver.url}/${tenantSlug}` })
    receiver.trust(tenantSlug, webhook.secret)
    ids.push(webhook.id)
  }
  return ids[0] ?? 0
}
