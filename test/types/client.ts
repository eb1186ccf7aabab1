import type { Static } from '@sinclair/typebox'
import { type Candidate, createClient, type Event, type EventType, type Job, type NewWebhook, type ReplayResult, type ReplaySelection, type RotatedWebhook, type TestResult, type Webhook, type WebhookEvent, type WebhookWithSecret } from '../../src/around/client/index.js'
import type { Event as WireEvent, EventType as WireEventType } from '../../src/core/api/events.js'
import type { Candidate as WireCandidate, Job as WireJob } from '../../src/core/api/rows.js'
import type * as wire from '../../src/core/api/webhooks.js'

/* Compiled by `npm run types`: each @ts-expect-error fails unless the next line is invalid. */

type Same<A, B> = [A] extends [B] ? [B] extends [A] ? true : never : never
type Output<Schema extends { static: unknown }> = Schema['static']

/** The client's types equal those of the API's schemas. */
export const same: true[] = [
  true satisfies Same<Candidate, Static<typeof WireCandidate>>,
  true satisfies Same<Job, Static<typeof WireJob>>,
  true satisfies Same<Webhook, Output<typeof wire.Webhook>>,
  true satisfies Same<WebhookWithSecret, Output<typeof wire.CreatedWebhook>>,
  true satisfies Same<RotatedWebhook, Output<typeof wire.RotatedWebhook>>,
  true satisfies Same<TestResult, Output<typeof wire.TestResult>>,
  true satisfies Same<ReplayResult, Output<typeof wire.ReplayResult>>,
  true satisfies Same<NewWebhook, Partial<Output<typeof wire.CreateWebhook>> & Pick<Output<typeof wire.CreateWebhook>, 'name' | 'target_url' | 'event_types'>>,
  true satisfies Same<ReplaySelection, Partial<Output<typeof wire.Replay>>>,
  true satisfies Same<Event, Static<typeof WireEvent>>,
  true satisfies Same<EventType, Output<typeof WireEventType>>
]

const options = { baseUrl: 'https://ats.example/api/v1/public', tenantSlug: 'acme', key: 'key' }

/** A vendor with text ids and more fields. */
export async function ownFields (): Promise<[string, string | null, number]> {
  const client = createClient<{ candidate: { id: string, email: string | null }, candidateFilters: { 'filter[email]': string } }>(options)
  client.candidates.list({ 'filter[email]': 'ana@example.org', sort: '-email' })
  // @ts-expect-error a filter is text
  client.candidates.list({ 'filter[email]': 1 })
  // @ts-expect-error a filter of candidates
  client.jobs.list({ 'filter[email]': 'ana@example.org' })
  const candidate = await client.candidates.find('c1')
  if (candidate === null) throw new Error('no candidate')
  // @ts-expect-error ids are text
  await client.candidates.find(1)
  // @ts-expect-error an unknown field
  String(candidate.phone)
  // @ts-expect-error an unknown filter
  client.jobs.list({ 'filter[recruiter_id]': 1 })
  const job = await client.jobs.find(1)
  return [candidate.id, candidate.email, job?.id ?? 0]
}

/** Event data with the vendor's documented type. */
export function ownEvent (event: WebhookEvent<{ id: number }>): number {
  return event.data?.id ?? 0
}

/** A vendor's own list. */
export async function ownList (): Promise<string | undefined> {
  const pages = createClient(options).sync<'note', { id: number, text: string }>('/notes/sync')
  const [first] = (await pages.next()).value?.data ?? []
  // @ts-expect-error deleted items are null
  String(first?.note.text)
  // @ts-expect-error another kind
  String(first?.candidate)
  return first?.note?.text
}

/** A vendor's own events, distinguished by their type. */
export async function ownEvents (): Promise<number> {
  const client = createClient<{ events: { 'offer.signed': { salary: number }, 'job.created': { title: string } } }>(options)
  let total = 0
  for await (const { data } of client.events({ types: ['offer.signed'], from: 'now' })) {
    for (const event of data) {
      if (event.type === 'offer.signed') total += event.data?.salary ?? 0
      // @ts-expect-error another event
      else total += event.data?.salary
    }
  }
  // @ts-expect-error an unknown event
  client.events({ types: ['offer.declined'] })
  // @ts-expect-error not an end of the feed
  createClient(options).events({ from: 'yesterday' })
  createClient<{ job: { id: string } }>(options).events({ types: ['anything'] })
  return total
}
