import { memoryStorage } from 'fastify-recruiting-api/memory'
import { serveQuestions } from '../harness/helper.js'
import { drain } from './drain.js'
import { createEvents, createWebhooks, record } from './recording.js'
import type { Done, Work } from './work.js'

serveQuestions({ send: (work) => deliver(work as Work) })

/** Records everything first, then starts a worker. */
async function deliver (work: Work): Promise<Done> {
  const storage = memoryStorage()
  await createWebhooks(storage, work.ports)
  await record(storage, createEvents(work), work)
  return drain(storage, work)
}
