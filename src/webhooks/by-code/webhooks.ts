import type { Static } from '@sinclair/typebox'
import { RecruitingApiError, Refusal } from '../../errors.js'
import { isStorableId } from '../../shared/ids.js'
import type { Page } from '../../shared/paging.js'
import { isTenantSlug, tenantSlugRule } from '../../shared/text.js'
import type { WebhookOperations } from '../operations.js'
import { Delivery, DeliveryQuery, DeliveryWithAttempts } from '../schemas/delivery.js'
import {
  CreateWebhook, CreatedWebhook, DispatchTest, FailingQuery, Replay, ReplayResult, RotateSecret, RotatedWebhook, TestResult, UpdateWebhook, Webhook,
  WebhookQuery, WebhookWithHealth
} from '../schemas/webhook.js'
import { createInputReader, createResultReader } from './input.js'
import type { RecruitingWebhooks } from './recruiting-webhooks.js'

interface Ids {
  id: number
  deliveryId?: number
}

/** Offers the operations to the host. `assertOpen` throws once the engine is closed. */
export function createRecruitingWebhooks (operations: WebhookOperations, assertOpen: () => void): RecruitingWebhooks {
  const read = createReaders()
  const show = createShows()

  return {
    list: (tenantSlug, query) => run(tenantSlug, async () => {
      return showPage(await operations.list(tenantSlug, read.webhookQuery(query)), show.webhook)
    }),
    find: (tenantSlug, id) => runFor(tenantSlug, { id }, async () => orNull(await operations.find(tenantSlug, id), show.webhookWithHealth)),
    create: (tenantSlug, input) => run(tenantSlug, async () => {
      return show.createdWebhook(await operations.create(tenantSlug, read.createWebhook(input)))
    }),
    update: (tenantSlug, id, changes) => change(tenantSlug, { id }, async () => {
      return orNull(await operations.update(tenantSlug, id, read.updateWebhook(changes)), show.webhook)
    }),
    async delete (tenantSlug, id) {
      await change(tenantSlug, { id }, async () => await operations.delete(tenantSlug, id) || null)
    },
    rotateSecret: (tenantSlug, id, input) => change(tenantSlug, { id }, async () => {
      return orNull(await operations.rotateSecret(tenantSlug, id, read.rotateSecret(input)), show.rotatedWebhook)
    }),
    sendTest: (tenantSlug, id, input) => change(tenantSlug, { id }, async () => {
      return orNull(await operations.sendTest(tenantSlug, id, read.test(input)), show.testResult)
    }),
    replay: (tenantSlug, id, input) => change(tenantSlug, { id }, async () => {
      return orNull(await operations.replay(tenantSlug, id, read.replay(input)), show.replayResult)
    }),
    listDeliveries: (tenantSlug, id, query) => change(tenantSlug, { id }, async () => {
      return orNull(await operations.listDeliveries(tenantSlug, id, read.deliveryQuery(query)), (page) => showPage(page, show.delivery))
    }),
    findDelivery: (tenantSlug, id, deliveryId) => runFor(tenantSlug, { id, deliveryId }, async () => {
      return orNull(await operations.findDelivery(tenantSlug, id, deliveryId), show.deliveryWithAttempts)
    }),
    retryDelivery: (tenantSlug, id, deliveryId) => change(tenantSlug, { id, deliveryId }, async () => {
      return orNull(await operations.retryDelivery(tenantSlug, id, deliveryId), show.delivery)
    }),
    failing: (options) => translate(() => operations.listFailing(read.failingQuery(options)))
  }

  function run<Result> (tenantSlug: string, work: () => Promise<Result>): Promise<Result> {
    return translate(async () => {
      if (!isTenantSlug(tenantSlug)) throw new Refusal('tenantSlug', `must be ${tenantSlugRule}`)
      return work()
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
  function runFor<Result> (tenantSlug: string, ids: Ids, work: () => Promise<Result | null>): Promise<Result | null> {
    return run(tenantSlug, async () => {
      for (const [name, id] of Object.entries(ids)) if (!Number.isInteger(id)) throw new Refusal(name, 'must be integer')
      return Object.values(ids).every(isStorableId) ? work() : null
    })
  }

  async function change<Result> (tenantSlug: string, ids: Ids, work: () => Promise<Result | null>): Promise<Result> {
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
    updateWebhook: createInputReader(UpdateWebhook),
    rotateSecret: createInputReader(RotateSecret),
    test: createInputReader(DispatchTest),
    replay: createInputReader(Replay),
    deliveryQuery: createInputReader(DeliveryQuery),
    failingQuery: createInputReader(FailingQuery)
  }
}

function createShows () {
  return {
    webhook: createResultReader<Webhook>(Webhook),
    webhookWithHealth: createResultReader<WebhookWithHealth>(WebhookWithHealth),
    createdWebhook: createResultReader<Static<typeof CreatedWebhook>>(CreatedWebhook),
    rotatedWebhook: createResultReader<Static<typeof RotatedWebhook>>(RotatedWebhook),
    testResult: createResultReader<Static<typeof TestResult>>(TestResult),
    replayResult: createResultReader<Static<typeof ReplayResult>>(ReplayResult),
    delivery: createResultReader<Delivery>(Delivery),
    deliveryWithAttempts: createResultReader<DeliveryWithAttempts>(DeliveryWithAttempts)
  }
}

function orNull<Value, Result> (value: Value | null, show: (value: Value) => Result): Result | null {
  return value === null ? null : show(value)
}

function showPage<Row, Item> ({ data, meta }: Page<Row>, show: (row: Row) => Item): Page<Item> {
  return { data: data.map(show), meta }
}

function toInvalidInput ({ field, message }: Refusal): RecruitingApiError {
  return new RecruitingApiError('invalid_input', `${field === '' ? 'input' : field}: ${message}`, field)
}
