/*
 * Simulates bad days on one core: `node simulate.program.js FROM COUNT STEP`. Prints a line of JSON every second, and
 * the shortest trace of each failing seed.
 */
import { shrink } from './shrink.js'
import { simulate } from './simulate.js'

const [from = 0, count = 0, step = 1] = process.argv.slice(2).map(Number)
const totals = { seeds: 0, events: 0, received: 0, faults: 0, time: 0 }
let printedAt = Date.now()

function print (): void {
  process.stdout.write(`${JSON.stringify(totals)}\n`)
  printedAt = Date.now()
}

for (let seed = from; seed < from + count; seed += step) {
  const run = await simulate(seed)
  totals.seeds++
  totals.events += run.events
  totals.received += run.received
  totals.faults += run.faults
  totals.time += run.time
  if (run.failure !== null) {
    const { failure, trace } = await shrink(run)
    process.stdout.write(`${JSON.stringify({ seed, failure, trace })}\n`)
  }
  if (Date.now() - printedAt > 1000) print()
}
print()
