import type { StoredSecrets, WebhookStore } from '../../ports/index.js'
import type { SecretBox } from './secret-box.js'

const batchSize = 100

/** Seals every secret that is not sealed with the first key. Returns the number of secrets sealed. */
export async function resealSecrets (webhooks: WebhookStore, box: SecretBox): Promise<number> {
  let count = 0
  let afterId = 0
  for (;;) {
    const batch = await webhooks.listSecrets({ afterId, limit: batchSize })
    for (const stored of batch) count += await resealOne(webhooks, box, stored)
    const last = batch.at(-1)
    if (last === undefined) return count
    afterId = last.webhookId
  }
}

async function resealOne (webhooks: WebhookStore, box: SecretBox, { tenantSlug, webhookId, secrets }: StoredSecrets): Promise<number> {
  let count = 0
  for (const from of secrets) {
    if (box.isCurrent(from, tenantSlug, webhookId)) continue
    const to = box.seal(box.open(from, tenantSlug, webhookId), tenantSlug, webhookId)
    if (await webhooks.replaceSecret(tenantSlug, webhookId, { from, to })) count++
  }
  return count
}
