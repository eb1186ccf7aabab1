import type { ListQuery, Webhook, WebhookFilter, WebhookSortField } from '../../ports/index.js'
import { benchCase } from '../support/driver.js'
import type { StorageDriver } from '../support/driver.js'
import { exactly, same } from '../support/expect.js'
import type { Exactly } from '../support/expect.js'
import { firstRows } from '../support/samples.js'

type Query = ListQuery<WebhookFilter, WebhookSortField>

// Returns a page of webhooks as their positions in the order of creation.
async function placesOf (
  { webhooks }: StorageDriver,
  created: readonly Webhook[],
  query: Partial<Query>
): Promise<number[]> {
  const rows = await webhooks.list('acme', { ...firstRows, ...query })
  return rows.map(({ id }) => created.findIndex((webhook) => webhook.id === id))
}

function by (field: WebhookSortField, direction: 'asc' | 'desc', last: 'asc' | 'desc' = direction): Partial<Query> {
  return { sort: [{ field, direction }, { field: 'id', direction: last }] }
}

async function createSome (driver: StorageDriver): Promise<Exactly<Webhook, 5>> {
  const created: Webhook[] = []
  for (const name of ['\u{1f600}', '\uffee', 'a', 'Z', 'a']) {
    created.push(await driver.addWebhook({ name, status: name === 'a' ? 'inactive' : 'active' }))
    await driver.wait(5)
  }
  return exactly(created, 5, 'webhooks created')
}

/** Cases about the list of webhooks. */
export const listCases = [
  benchCase('webhooks', {
    port: 'webhooks.list', name: 'webhooks are listed by any sort field, text by code point'
  }, async (driver) => {
    const created = await createSome(driver)
    await driver.webhooks.update('acme', created[0].id, {})
    same(await placesOf(driver, created, by('name', 'asc')), [3, 2, 4, 1, 0], 'by name: Z, a, a, \uffee, \u{1f600}')
    same(await placesOf(driver, created, by('name', 'desc')), [0, 1, 4, 2, 3], 'by name, descending')
    same(await placesOf(driver, created, by('name', 'asc', 'desc')), [3, 4, 2, 1, 0], 'by name, then by descending id')
    same(await placesOf(driver, created, by('created_at', 'asc')), [0, 1, 2, 3, 4], 'the oldest first')
    same(await placesOf(driver, created, by('created_at', 'desc')), [4, 3, 2, 1, 0], 'the newest first')
    same(
      await placesOf(driver, created, by('updated_at', 'asc')),
      [1, 2, 3, 4, 0],
      'by updated_at, the last updated webhook last'
    )
    same(
      await placesOf(driver, created, { sort: [{ field: 'id', direction: 'desc' }] }),
      [4, 3, 2, 1, 0],
      'by descending id'
    )
  }),

  benchCase('webhooks', {
    port: 'webhooks.list', name: 'a page of webhooks is a slice of the order, after the filter'
  }, async (driver) => {
    const created = await createSome(driver)
    same(await placesOf(driver, created, { offset: 1, limit: 2 }), [1, 2], 'offset 1, limit 2')
    same(await placesOf(driver, created, { offset: 5 }), [], 'offset 5 of 5')
    same(await placesOf(driver, created, { offset: 429_496_729_200 }), [], 'an offset far beyond')
    same(await placesOf(driver, created, { filter: { status: 'active' }, offset: 1, limit: 2 }), [1, 3],
      'offset 1, limit 2 of the active webhooks')
  }),

  benchCase('webhooks', { port: 'webhooks.list', name: 'webhooks are filtered by status' }, async (driver) => {
    const created = await createSome(driver)
    for (const [status, places] of [['inactive', [2, 4]], ['active', [0, 1, 3]], ['disabled', []]] as const) {
      same(await placesOf(driver, created, { filter: { status } }), places, `the ${status} webhooks`)
      same(await driver.webhooks.count('acme', { status }), places.length, `the number of ${status} webhooks`)
    }
    same(await driver.webhooks.count('acme', {}), 5, 'the number of webhooks')
  })
]
