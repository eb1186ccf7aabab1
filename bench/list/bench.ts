import { migrate } from 'fastify-recruiting-api/postgres'
import { emptyComparison, printComparison } from '../harness/comparison.js'
import { startDatabase } from '../harness/database.js'
import { comparePages } from './compare-pages.js'
import { fillCandidates } from './postgres.js'

interface Variant {
  title: string
  /** The plugin, and a handwritten route. */
  servers?: [ours: string, byHand: string]
  query: string
  logging: 'silent' | 'logging'
  /** Rounds with each pair of processes. */
  rounds: number
  target?: number
}

const variants: Variant[] = [
  { title: 'list: 25 of 1,000 candidates', query: '', logging: 'silent', rounds: 3, target: 0.95 },
  { title: 'list: the same, with a logger', query: '', logging: 'logging', rounds: 1 },
  { title: 'list: the third page', query: '?page=3&per_page=25', logging: 'silent', rounds: 3, target: 0.9 },
  {
    title: 'list: the third page of a search, sorted',
    query: '?page=3&per_page=25&sort=-full_name&filter[q]=an',
    logging: 'silent',
    rounds: 1
  },
  {
    title: 'list: 25 of 1,000 candidates with uuids',
    servers: ['ours-uuids', 'plain-uuids'],
    query: '',
    logging: 'silent',
    rounds: 3,
    target: 0.95
  },
  {
    title: 'list: 25 of 1,000 candidates in PostgreSQL, with the CPU of its processes',
    servers: ['ours-postgres', 'plain-postgres'],
    query: '',
    logging: 'silent',
    rounds: 3,
    target: 1.3
  }
]

/** Pairs of processes: compilation and memory layout change a process's speed by a few per cent. */
const generations = 4

const module = new URL('server.js', import.meta.url)
const labels = { unit: 'requests', theirs: 'hand-written route' }

const database = await startDatabase()
await migrate(database.pool)
await fillCandidates(database.pool, 1000)

for (const { title, servers: [ours, byHand] = ['ours', 'plain'], target = null, ...contest } of variants) {
  const comparison = emptyComparison()
  const servers = [{ module, name: ours }, { module, name: byHand }] as const
  for (let generation = 0; generation < generations; generation++) {
    await comparePages(comparison, { servers, ...contest, url: database.url })
  }
  printComparison(comparison, { ...labels, title, target })
}
await database.close()
