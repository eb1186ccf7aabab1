import { type Comparison, emptyComparison, printComparison } from '../harness/comparison.js'
import { comparePages } from './compare-pages.js'

interface Variant {
  title: string
  /** The servers to compare. @default the plugin and a route written by hand */
  servers?: [measured: string, yardstick: string, title: string]
  query: string
  logging: 'silent' | 'logging'
  /** Rounds with each pair of processes. */
  rounds: number
  target?: number
}

const variants: Variant[] = [
  { title: 'list: 25 of 1,000 candidates', query: '', logging: 'silent', rounds: 3, target: 0.95 },
  { title: 'list: the same, with a logger', query: '', logging: 'logging', rounds: 1 },
  { title: 'list: the third page', query: '?page=3&per_page=25', logging: 'silent', rounds: 3, target: 0.95 },
  {
    title: 'list: the third page of a search, sorted',
    query: '?page=3&per_page=25&sort=-full_name&filter[q]=an',
    logging: 'silent',
    rounds: 1
  },
  // A request that is not of an agent pays nothing for the option.
  {
    title: 'list: 25 of 1,000 candidates, with the option mcp',
    servers: ['ours-agents', 'ours', 'without it'],
    query: '',
    logging: 'silent',
    rounds: 3,
    target: 0.99
  },
  {
    title: 'list: 25 of 1,000 candidates with uuids',
    servers: ['ours-uuids', 'plain-uuids', 'hand-written route'],
    query: '',
    logging: 'silent',
    rounds: 3,
    target: 0.95
  },
  // A page with uuids has half as many bytes again, which costs the hand-written route as much.
  {
    title: 'list: uuids in the place of integers',
    servers: ['ours-uuids', 'ours', 'integers'],
    query: '',
    logging: 'silent',
    rounds: 3
  },
  {
    title: 'list: the same, written by hand',
    servers: ['plain-uuids', 'plain', 'integers'],
    query: '',
    logging: 'silent',
    rounds: 3
  }
]

const byHand: NonNullable<Variant['servers']> = ['ours', 'plain', 'hand-written route']

/** Starts new processes now and then: compilation and memory layout change the speed of a process by some per cent. */
const generations = 6

const module = new URL('server.js', import.meta.url)
const entries = variants.map((variant) => ({ variant, comparison: emptyComparison() }))
for (let generation = 0; generation < generations; generation++) {
  for (const { variant, comparison } of entries) await compare(variant, comparison)
}
for (const { variant: { title, servers: [, , theirs] = byHand, target = null }, comparison } of entries) {
  printComparison(comparison, { title, unit: 'requests', theirs, target })
}

async function compare ({ servers = byHand, query, logging, rounds }: Variant, comparison: Comparison): Promise<void> {
  const [ours, theirs, title] = servers
  const contestants = [{ module, name: ours }, { module, name: theirs }] as const
  await comparePages(comparison, { servers: contestants, query, logging, rounds, isSameAnswer: title === byHand[2] })
}
