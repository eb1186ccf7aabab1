import { postgresStorage } from '../../postgres/index.js'
import { createSecretBox } from '../../webhooks/secrets/secret-box.js'
import { readSecretKeys } from '../secret-keys.js'
import { type Check, type Patient, fault, ok, unknown } from './finding.js'

const batchSize = 100
const maxShown = 20
const maxCounted = 1000

/** Whether webhooks fail or were disabled. */
export const unwell: Check = {
  name: 'webhooks',
  needsTables: true,
  async run ({ pool, schema }) {
    const { webhooks } = postgresStorage(pool, { schema })
    const rows = await webhooks.listFailing({ limit: maxCounted, maxPending: 1 })
    if (rows.length === 0) return [ok('none fails or is disabled')]
    const [disabled, failing] = [true, false].map((isDisabled) => rows
      .filter(({ webhook }) => (webhook.status === 'disabled') === isDisabled)
      .map(({ tenantSlug, webhook }) => `${webhook.id} of ${tenantSlug}`))
    return Object.entries({ disabled, failing }).flatMap(([status, names = []]) => names.length === 0
      ? []
      : [fault(`${names.length} ${status}: ${show(names)}`, 'run fastify-recruiting-api webhooks failing, and inform their tenants')])
  }
}

/** Whether the keys of `--secret-keys` open every webhook secret. */
export const secrets: Check = {
  name: 'secrets',
  needsTables: true,
  async run (patient) {
    const { flags } = patient
    const closed = await findClosed(patient, await readSecretKeys(flags))
    if (closed.length === 0) return [ok(flags.has('secret-keys') ? 'the keys open all of them' : 'none is encrypted')]
    if (!flags.has('secret-keys')) return [unknown(`${closed.length} webhooks have encrypted secrets`, 'add --secret-keys FILE to check them')]
    return [fault(`no key opens the secrets of ${closed.length} webhooks: ${show(closed)}`,
      'restore the missing key in secretKeys and in the file, then run fastify-recruiting-api reseal')]
  }
}

async function findClosed ({ pool, schema }: Patient, keys: readonly Uint8Array[]): Promise<string[]> {
  const { webhooks } = postgresStorage(pool, { schema })
  const box = createSecretBox(keys)
  const closed: string[] = []
  let afterId = 0
  for (;;) {
    const batch = await webhooks.listSecrets({ afterId, limit: batchSize })
    for (const { tenantSlug, webhookId, secrets: stored } of batch) {
      if (!stored.every((secret) => opens(() => box.open(secret, tenantSlug, webhookId)))) closed.push(`${webhookId} of ${tenantSlug}`)
    }
    const last = batch.at(-1)
    if (last === undefined) return closed
    afterId = last.webhookId
  }
}

function opens (open: () => string): boolean {
  try {
    return open() !== ''
  } catch {
    return false
  }
}

function show (names: readonly string[]): string {
  const rest = names.length - maxShown
  return names.slice(0, maxShown).join(', ') + (rest > 0 ? ` and ${rest} more` : '')
}
