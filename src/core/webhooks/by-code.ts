import type { TSchema, Static } from '@sinclair/typebox'
import type { ErrorObject, ValidateFunction } from 'ajv'
import { callOperations } from '../api/calls.js'
import { type Given, idsOf, type Operation } from '../api/operation.js'
import { subscriptionOperations } from '../api/subscriptions.js'
import { FailingQuery } from '../api/webhooks.js'
import { RecruitingApiError, InputError } from '../shared/errors.js'
import { type AuditedCall, type CallReport, withCreator } from '../observe/audit.js'
import type { Tenant } from '../ports/index.js'
import { compileSchema, createAjv, describeFault, formatFaultPath } from '../shared/ajv.js'
import { readField } from '../shared/fields.js'
import { isStorableId } from '../shared/ids.js'
import type { Page } from '../shared/paging.js'
import { assertOption, optional, plainText, readInput, unread } from '../shared/read-options.js'
import { readTenant, readTenantArgument, showTenant, type TenantArgument, type Tenants } from '../shared/tenants.js'
import { findJsonFault } from '../shared/text.js'
import type { WebhookOperations } from './operations.js'
import type { ActorCalls, RecruitingSubscriptions, RecruitingWebhooks, WebhookCall } from './recruiting.js'
import type { SubscriptionOperations } from './subscriptions.js'

/** Returns a function that creates the host's calls. `assertOpen` throws once the engine is closed. */
export function createRecruitingWebhooks (
  operations: WebhookOperations, agents: SubscriptionOperations | null, tenants: Tenants, assertOpen: () => void
): (report: CallReport, actor: string | null) => Pick<ActorCalls, 'webhooks' | 'subscriptions'> {
  const readFailing = createInputReader(FailingQuery)
  const calls = Object.entries(callOperations).map(([name, operation]) => {
    return [name, createCall(operation, operations[name as WebhookCall] as Perform)] as const
  })
  const list: SubscriptionOperations['list'] = (given) => openAgents().list(given)
  const listSubscriptions = createCall(subscriptionOperations.list, list as Perform)
  return (report, actor) => ({
    webhooks: {
      ...Object.fromEntries(calls.map(([name, call]) => [name, call(report, actor)])) as
        Pick<RecruitingWebhooks, WebhookCall>,
      failing: (options) => translate(async () => {
        const found = await operations.listFailing(readFailing(options))
        report({ operationId: 'listFailingWebhooks', rowCount: found.length })
        return found
      })
    },
    subscriptions: {
      list: listSubscriptions(report, actor) as RecruitingSubscriptions['list'],
      end: (ended) => translate(async () => {
        const { principal, id, ...argument } = readInput(ended, {
          tenantSlug: unread, tenantId: unread, principal: optional(plainText(255)), id: optional(plainText(64))
        })
        const which = principal !== undefined ? { principal } : id !== undefined ? { id } : null
        if (which === null || (principal !== undefined && id !== undefined)) {
          throw new InputError('principal', 'must be given, or id instead')
        }
        const tenantId = await tenants.getId(readTenant(argument))
        const { length: rowCount } = await openAgents().endAll(tenantId, which, 'disconnected')
        report({ operationId: 'endSubscription', tenantSlug: showTenant(ended), tenantId, rowCount })
        return rowCount
      })
    }
  })

  function openAgents (): SubscriptionOperations {
    assertOption(agents !== null, 'storage.subscriptions', 'a storage with subscriptions and a feed', undefined)
    return agents
  }

  /** Returns a function of the tenant, the ids in the path, and the input. */
  function createCall (operation: Operation, perform: Perform) {
    const names = idsOf(operation)
    const { input, item, shape, method, namesTenant = false } = operation
    const read = input === undefined ? () => undefined : createInputReader(input)
    // Looking up a record that does not exist is not an error.
    const isLookup = method === 'GET' && shape === 'one'
    const takesTransaction = operation === callOperations.create

    return (report: CallReport, actor: string | null) => {
      const caller = { type: 'code', id: actor } as const
      return (argument: TenantArgument, ...given: unknown[]) => translate(async () => {
        const options = takesTransaction ? given[names.length + 1] : {}
        const { transaction } = readInput(options ?? {}, { transaction: unread })
        const id = await tenants.getId(readTenantArgument(argument), transaction)
        const ids = readIds(names, given)
        const slug = namesTenant ? await findSlug(argument, id, transaction) : id
        const result = ids && await perform({
          ...ids, tenant: { id, slug }, caller, omitBody: false, input: read(given[names.length]), transaction
        })
        if (result === null && !isLookup) throw notFound(names, given)
        // A lookup without a result is not reported.
        if (result !== null) report(describeCall(operation, { argument, id, given, result }))
        return shape === 'none' ? undefined : pick(operation, item, result)
      })
    }
  }

  async function findSlug (argument: TenantArgument, id: Tenant['id'], transaction: unknown): Promise<string> {
    return readTenantArgument(argument).slug ?? (await tenants.findSlug(id, transaction)) ?? id
  }

  async function translate<Result> (work: () => Promise<Result>): Promise<Result> {
    assertOpen()
    try {
      return await work()
    } catch (thrown) {
      if (!(thrown instanceof InputError)) throw thrown
      const { field, message } = thrown
      throw new RecruitingApiError('invalid_input', `${field === '' ? 'input' : field}: ${message}`, field)
    }
  }
}

type Perform = (given: Given<unknown, number>) => Promise<unknown>

/** Returns the ids; `null` if no record can have one of them. */
function readIds (
  names: ReturnType<typeof idsOf>, given: readonly unknown[]
): { id: number, deliveryId: number } | null {
  const ids = { id: 0, deliveryId: 0 }
  for (const [index, name] of names.entries()) {
    const id = given[index]
    if (!Number.isInteger(id)) throw new InputError(name, 'must be integer')
    ids[name] = id as number
  }
  return names.every((name) => isStorableId(ids[name])) ? ids : null
}

function notFound (names: ReturnType<typeof idsOf>, [id, deliveryId]: readonly unknown[]): RecruitingApiError {
  return names.includes('deliveryId')
    ? new RecruitingApiError(
      'not_found',
        `deliveryId: webhook ${String(id)} of the tenant has no delivery ${String(deliveryId)}`,
        'deliveryId'
    )
    : new RecruitingApiError('not_found', `id: the tenant has no webhook ${String(id)}`, 'id')
}

function pick ({ shape }: Operation, item: TSchema | undefined, result: unknown): unknown {
  if (item === undefined || result === null) return result
  if (shape === 'one') return pickPublished(item, result)
  const { data, meta } = result as Page<unknown>
  return { data: data.map((row) => pickPublished(item, row)), meta }
}

function describeCall (
  operation: Operation,
  call: { argument: TenantArgument, id: Tenant['id'], given: readonly unknown[], result: unknown }
): AuditedCall {
  const { operationId, resource: kind, shape } = operation
  const { argument, id: tenantId, given, result } = call
  const count = idsOf(operation).length
  // A created webhook has its id in the result. A list has no id.
  const id = given[count - 1] ?? readField(result, 'id')
  return {
    operationId,
    tenantSlug: showTenant(argument),
    tenantId,
    filters: listFilters(given[count]),
    ...kind === undefined || id === undefined ? {} : { resource: withCreator({ kind, id: id as number }, result) },
    ...shape === 'none' ? {} : { rowCount: shape === 'one' ? 1 : (result as Page<unknown>).data.length }
  }
}

function listFilters (query: unknown): string[] {
  return Object.entries(query ?? {})
    .filter(([name, value]) => name.startsWith('filter[') && value !== undefined)
    .map(([name]) => name)
}

/** Returns a reader that copies, validates and completes input as the API does. It throws an `InputError`. */
function createInputReader<Schema extends TSchema> (schema: Schema): (input: unknown) => Static<Schema> {
  // Compiled on the first call, because most processes make none.
  let validate: ValidateFunction | null = null
  return (input = {}) => {
    validate ??= compileSchema(createAjv({ useDefaults: true }), schema)
    const copy = copyAsJson(input)
    if (validate(copy)) return copy
    const [fault] = validate.errors as [ErrorObject]
    throw new InputError(formatFaultPath(fault), describeFault(fault))
  }
}

/** Copies the fields of the schema, which the API would send. A storage's rows may have more, such as a secret. */
function pickPublished (schema: TSchema, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => pickPublished(schema.items, item))
  if (typeof value !== 'object' || value === null) return value
  // Only headers and filters have a schema without properties.
  if (schema.properties === undefined) return { ...value }
  const fields = Object.entries<TSchema>(schema.properties).filter(([name]) => Reflect.get(value, name) !== undefined)
  return Object.fromEntries(fields.map(([name, field]) => [name, pickPublished(field, Reflect.get(value, name))]))
}

function copyAsJson (input: unknown): unknown {
  let copy: unknown
  try {
    copy = JSON.parse(JSON.stringify(input))
  } catch {
    throw new InputError('', 'is not JSON')
  }
  const fault = findJsonFault(copy)
  if (fault !== null) throw new InputError(fault.field, fault.message)
  return copy
}
