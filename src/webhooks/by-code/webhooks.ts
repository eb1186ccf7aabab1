import type { TSchema } from '@sinclair/typebox'
import { RecruitingApiError, Refusal } from '../../errors.js'
import type { Tenant } from '../../ports/index.js'
import { isStorableId } from '../../shared/ids.js'
import type { Page } from '../../shared/paging.js'
import type { Tenants } from '../../shared/tenants.js'
import { isTenantSlug, tenantSlugRule } from '../../shared/text.js'
import type { WebhookOperations } from '../operations.js'
import { Delivery, DeliveryQuery, DeliveryWithAttempts } from '../schemas/delivery.js'
import {
  CreateWebhook, CreatedWebhook, DispatchTest, FailingQuery, ImportWebhook, PreviewWebhook, Replay, ReplayResult, RotateSecret, RotatedWebhook, TestResult, UpdateWebhook, Webhook,
  WebhookPreview, WebhookQuery, WebhookWithHealth
} from '../schemas/webhook.js'
import { createInputReader, pickPublished } from './input.js'
import type { RecruitingWebhooks } from './recruiting-webhooks.js'

interface Ids {
  id: number
  deliveryId?: number
}

/** Offers the operations to the host. `assertOpen` throws once the engine is closed. */
export function createRecruitingWebhooks (operations: WebhookOperations, tenants: Tenants, assertOpen: () => void): RecruitingWebhooks {
  const read = createReaders()

  return {
    list: (tenantSlug, query) => run(tenantSlug, async (tenant) => {
      return pickPage(await operations.list(tenant, read.webhookQuery(query)), Webhook)
    }),
    find: (tenantSlug, id) => runFor(tenantSlug, { id }, async (tenant) => pickOne(await operations.find(tenant, id), WebhookWithHealth)),
    create: (tenantSlug, input) => run(tenantSlug, async (tenant) => {
      return pickPublished(CreatedWebhook, await operations.create(tenant, read.createWebhook(input)))
    }),
    import: (tenantSlug, input) => run(tenantSlug, async (tenant) => {
      return pickPublished(Webhook, await operations.import(tenant, read.importWebhook(input)))
    }),
    update: (tenantSlug, id, changes) => change(tenantSlug, { id }, async (tenant) => {
      return pickOne(await operations.update(tenant, id, read.updateWebhook(changes)), Webhook)
    }),
    async delete (tenantSlug, id) {
      await change(tenantSlug, { id }, async (tenant) => await operations.delete(tenant, id) || null)
    },
    rotateSecret: (tenantSlug, id, input) => change(tenantSlug, { id }, async (tenant) => {
      return pickOne(await operations.rotateSecret(tenant, id, read.rotateSecret(input)), RotatedWebhook)
    }),
    sendTest: (tenantSlug, id, input) => change(tenantSlug, { id }, async (tenant) => {
      return pickOne(await operations.sendTest(tenant, id, read.test(input)), TestResult)
    }),
    replay: (tenantSlug, id, input) => change(tenantSlug, { id }, async (tenant) => {
      return pickOne(await operations.replay(tenant, id, read.replay(input)), ReplayResult)
    }),
    preview: (tenantSlug, input) => run(tenantSlug, async (tenant) => pickPublished(WebhookPreview, await operations.preview(tenant, read.preview(input)))),
    listDeliveries: (tenantSlug, id, query) => change(tenantSlug, { id }, async (tenant) => {
      const page = await operations.listDeliveries(tenant, id, read.deliveryQuery(query))
      return page === null ? null : pickPage(page, Delivery)
    }),
    findDelivery: (tenantSlug, id, deliveryId) => runFor(tenantSlug, { id, deliveryId }, async (tenant) => {
      return pickOne(await operations.findDelivery(tenant, id, deliveryId), DeliveryWithAttempts)
    }),
    retryDelivery: (tenantSlug, id, deliveryId) => change(tenantSlug, { id, deliveryId }, async (tenant) => {
      return pickOne(await operations.retryDelivery(tenant, id, deliveryId), Delivery)
    }),
    failing: (options) => translate(() => operations.listFailing(read.failingQuery(options)))
  }

  function run<Result> (tenantSlug: string, work: (tenant: Tenant) => Promise<Result>): Promise<Result> {
    return translate(async () => {
      if (!isTenantSlug(tenantSlug)) throw new Refusal('tenantSlug', `must be ${tenantSlugRule}`)
      return work(await tenants.get(tenantSlug))
    })
  }

  async function translate<Result> (work: () => Promise<Result>): Promise<Result> {
    assertOpen()
    try {
      return await work()
    } catch (thrown) {
      throw thrown instanceof Refusal ? toInvalidInput(thrown) : thrown
    }
  }

  /** Resolves with `null` without asking the storage for an id that nothing can have. */
  function runFor<Result> (tenantSlug: string, ids: Ids, work: (tenant: Tenant) => Promise<Result | null>): Promise<Result | null> {
    return run(tenantSlug, async (tenant) => {
      for (const [name, id] of Object.entries(ids)) if (!Number.isInteger(id)) throw new Refusal(name, 'must be integer')
      return Object.values(ids).every(isStorableId) ? work(tenant) : null
    })
  }

  async function change<Result> (tenantSlug: string, ids: Ids, work: (tenant: Tenant) => Promise<Result | null>): Promise<Result> {
    const result = await runFor(tenantSlug, ids, work)
    if (result !== null) return result
    const { id, deliveryId } = ids
    if (deliveryId === undefined) throw new RecruitingApiError('not_found', `id: the tenant has no webhook ${id}`, 'id')
    throw new RecruitingApiError('not_found', `deliveryId: webhook ${id} of the tenant has no delivery ${deliveryId}`, 'deliveryId')
  }
}

function createReaders () {
  return {
    webhookQuery: createInputReader(WebhookQuery),
    createWebhook: createInputReader(CreateWebhook),
    importWebhook: createInputReader(ImportWebhook),
    updateWebhook: createInputReader(UpdateWebhook),
    rotateSecret: createInputReader(RotateSecret),
    test: createInputReader(DispatchTest),
    replay: createInputReader(Replay),
    preview: createInputReader(PreviewWebhook),
    deliveryQuery: createInputReader(DeliveryQuery),
    failingQuery: createInputReader(FailingQuery)
  }
}

function pickOne<Value> (value: Value | null, schema: TSchema): Value | null {
  return value === null ? null : pickPublished(schema, value)
}

function pickPage<Row> ({ data, meta }: Page<Row>, schema: TSchema): Page<Row> {
  return { data: data.map((row) => pickPublished(schema, row)), meta }
}

function toInvalidInput ({ field, message }: Refusal): RecruitingApiError {
  return new RecruitingApiError('invalid_input', `${field === '' ? 'input' : field}: ${message}`, field)
}
