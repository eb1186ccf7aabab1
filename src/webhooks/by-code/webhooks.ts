import type { TSchema } from '@sinclair/typebox'
import { RecruitingApiError, Refusal } from '../../errors.js'
import type { Tenant } from '../../ports/index.js'
import { isStorableId } from '../../shared/ids.js'
import type { Page } from '../../shared/paging.js'
import { type TenantArgument, type Tenants, readTenantArgument } from '../../shared/tenants.js'
import type { WebhookOperations } from '../operations.js'
import { Delivery, DeliveryQuery, DeliveryWithAttempts } from '../schemas/delivery.js'
import {
  CreateWebhook,
  CreatedWebhook,
  DispatchTest,
  FailingQuery,
  ImportWebhook,
  PreviewWebhook,
  Replay,
  ReplayResult,
  RotateSecret,
  RotatedWebhook,
  TestResult,
  UpdateWebhook,
  Webhook,
  WebhookPreview,
  WebhookQuery,
  WebhookWithHealth
} from '../schemas/webhook.js'
import { createInputReader, pickPublished } from './input.js'
import type { RecruitingWebhooks } from './recruiting-webhooks.js'

type Owner = Pick<Tenant, 'id'>

interface Ids {
  id: number
  deliveryId?: number
}

/** Offers the operations to the host. `assertOpen` throws once the engine is closed. */
export function createRecruitingWebhooks (
  operations: WebhookOperations,
  tenants: Tenants,
  assertOpen: () => void
): RecruitingWebhooks {
  const read = createReaders()

  return {
    list: (tenant, query) =>
      run(tenant, async (owner) => {
        return pickPage(await operations.list(owner, read.webhookQuery(query)), Webhook)
      }),
    find: (tenant, id) =>
      runFor(tenant, { id }, async (owner) => {
        return pickOne(await operations.find(owner, id), WebhookWithHealth)
      }),
    create: (tenant, input) =>
      run(tenant, async (owner) => {
        return pickPublished(
          CreatedWebhook,
          await operations.create(await withName(tenant, owner), read.createWebhook(input))
        )
      }),
    import: (tenant, input) =>
      run(tenant, async (owner) => {
        return pickPublished(Webhook, await operations.import(await withName(tenant, owner), read.importWebhook(input)))
      }),
    update: (tenant, id, changes) =>
      change(tenant, { id }, async (owner) => {
        return pickOne(await operations.update(owner, id, read.updateWebhook(changes)), Webhook)
      }),
    async delete (tenant, id) {
      await change(tenant, { id }, async (owner) => (await operations.delete(owner, id)) || null)
    },
    rotateSecret: (tenant, id, input) =>
      change(tenant, { id }, async (owner) => {
        return pickOne(await operations.rotateSecret(owner, id, read.rotateSecret(input)), RotatedWebhook)
      }),
    sendTest: (tenant, id, input) =>
      change(tenant, { id }, async (owner) => {
        return pickOne(await operations.sendTest(await withName(tenant, owner), id, read.test(input)), TestResult)
      }),
    replay: (tenant, id, input) =>
      change(tenant, { id }, async (owner) => {
        return pickOne(await operations.replay(owner, id, read.replay(input)), ReplayResult)
      }),
    preview: (tenant, input) =>
      run(tenant, async (owner) => {
        return pickPublished(WebhookPreview, await operations.preview(owner, read.preview(input)))
      }),
    listDeliveries: (tenant, id, query) =>
      change(tenant, { id }, async (owner) => {
        const page = await operations.listDeliveries(owner, id, read.deliveryQuery(query))
        return page === null ? null : pickPage(page, Delivery)
      }),
    findDelivery: (tenant, id, deliveryId) =>
      runFor(tenant, { id, deliveryId }, async (owner) => {
        return pickOne(await operations.findDelivery(owner, id, deliveryId), DeliveryWithAttempts)
      }),
    retryDelivery: (tenant, id, deliveryId) =>
      change(tenant, { id, deliveryId }, async (owner) => {
        return pickOne(await operations.retryDelivery(owner, id, deliveryId), Delivery)
      }),
    failing: (options) => translate(() => operations.listFailing(read.failingQuery(options)))
  }

  function run<Result> (tenant: TenantArgument, work: (owner: Owner) => Promise<Result>): Promise<Result> {
    return translate(async () => work({ id: await tenants.getId(readTenantArgument(tenant)) }))
  }

  /** Adds the slug, which most calls do not need. */
  async function withName (tenant: TenantArgument, { id }: Owner): Promise<Tenant> {
    return { id, slug: readTenantArgument(tenant).slug ?? (await tenants.findSlug(id)) ?? id }
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
  function runFor<Result> (
    tenant: TenantArgument,
    ids: Ids,
    work: (owner: Owner) => Promise<Result | null>
  ): Promise<Result | null> {
    return run(tenant, async (owner) => {
      for (const [name, id] of Object.entries(ids)) {
        if (!Number.isInteger(id)) throw new Refusal(name, 'must be integer')
      }
      return Object.values(ids).every(isStorableId) ? work(owner) : null
    })
  }

  async function change<Result> (
    tenant: TenantArgument,
    ids: Ids,
    work: (owner: Owner) => Promise<Result | null>
  ): Promise<Result> {
    const result = await runFor(tenant, ids, work)
    if (result !== null) return result
    const { id, deliveryId } = ids
    if (deliveryId === undefined) throw new RecruitingApiError('not_found', `id: the tenant has no webhook ${id}`, 'id')
    throw new RecruitingApiError(
      'not_found',
      `deliveryId: webhook ${id} of the tenant has no delivery ${deliveryId}`,
      'deliveryId'
    )
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
