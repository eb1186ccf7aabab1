import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { DeliverySortField, RecruitingStorage } from '../../ports/index.js'
import { omitUndefined } from '../../shared/omit-undefined.js'
import { readTenantSlug } from '../auth.js'
import { parseSort } from '../input/list-query.js'
import { readPage } from '../answers/page.js'
import { found, storableId } from '../answers/resource.js'
import { DataOf, PageOf } from '../schemas/answers.js'
import { Delivery, DeliveryQuery, DeliveryWithAttempts } from '../schemas/delivery.js'
import { errorResponses } from '../schemas/errors.js'
import { DeliveryParams, WebhookParams } from '../schemas/parameters.js'
import { webhookScopes } from './webhook-scopes.js'

const tags = ['deliveries']

/** Routes that read the deliveries of a webhook. */
export function deliveryRoutes ({ webhooks, deliveries }: RecruitingStorage): FastifyPluginAsyncTypebox {
  return async (app) => {
    const config = { scopes: webhookScopes }
    app.get('/webhooks/:id/deliveries', {
      exposeHeadRoute: true,
      config,
      schema: {
        operationId: 'listWebhookDeliveries',
        tags,
        summary: 'List the deliveries of a webhook',
        description: 'Returns the delivery log, newest first unless `sort` is given. It does not contain test notifications.',
        params: WebhookParams,
        querystring: DeliveryQuery,
        response: { 200: PageOf(Delivery, 'A page of deliveries'), ...errorResponses }
      }
    }, async (request, reply) => {
      const tenantSlug = readTenantSlug(request)
      const { query } = request
      const sort = parseSort<DeliverySortField>(query.sort)
      const { id } = found(await webhooks.find(tenantSlug, storableId(request.params.id)))
      return readPage(request, reply, {
        list: (page) => deliveries.list(tenantSlug, id, page),
        count: (filter) => deliveries.count(tenantSlug, id, filter)
      }, {
        page: query.page,
        perPage: query.per_page,
        sort,
        filter: omitUndefined({
          status: query['filter[status]'],
          eventType: query['filter[event_type]'],
          eventId: query['filter[event_id]']
        })
      })
    })

    app.get('/webhooks/:id/deliveries/:delivery_id', {
      exposeHeadRoute: true,
      config,
      schema: {
        operationId: 'getWebhookDelivery',
        tags,
        summary: 'Get a delivery with its attempts',
        description: 'Of the response of your endpoint, only the status is stored.',
        params: DeliveryParams,
        response: { 200: DataOf(DeliveryWithAttempts, 'The delivery'), ...errorResponses }
      }
    }, async (request) => {
      const { id, delivery_id: deliveryId } = request.params
      return { data: found(await deliveries.find(readTenantSlug(request), storableId(id), storableId(deliveryId))) }
    })
  }
}
