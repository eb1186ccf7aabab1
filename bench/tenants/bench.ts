import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { emptyComparison, printComparison } from '../harness/comparison.js'
import { type Contestant, comparePages } from '../list/compare-pages.js'

/*
 * The price of `tenantId` for a page. `BENCH_BASELINE` is another checkout, such as one of the commit before, in which this
 * benchmark has been built: the pages without the option are then compared with its pages.
 */
const { BENCH_BASELINE: checkout } = process.env
const module = new URL('../list/server.js', import.meta.url)
const ours: Contestant = { module, name: 'ours' }
const withIds: Contestant = { module, name: 'ours-ids' }

const generations = 6
const rounds = 4

interface Variant {
  title: string
  servers: readonly [measured: Contestant, yardstick: Contestant]
  theirs: string
  target: number
}

const variants: Variant[] = [{ title: 'tenants: a page with tenantId', servers: [withIds, ours], theirs: 'page without it', target: 0.98 }]
if (checkout !== undefined) {
  const built = pathToFileURL(resolve(checkout, 'node_modules/.cache/fastify-recruiting-api-bench/bench/list/server.js'))
  variants.push({ title: 'tenants: a page without tenantId', servers: [ours, { module: built, name: 'ours' }], theirs: 'baseline', target: 1 })
}

const entries = variants.map((variant) => ({ variant, comparison: emptyComparison() }))
for (let generation = 0; generation < generations; generation++) {
  for (const { variant: { servers }, comparison } of entries) {
    await comparePages(comparison, { servers, query: '', logging: 'silent', rounds, isSameAnswer: true })
  }
}
for (const { variant: { title, theirs, target }, comparison } of entries) printComparison(comparison, { title, unit: 'requests', theirs, target })
