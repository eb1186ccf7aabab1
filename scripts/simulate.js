/*
 * Simulates bad days of the engine on all cores, each reproducible from its seed:
 *
 *   npm run simulate -- --seeds 10000 --from 1
 *
 * Prints seeds per second and totals, and the shortest trace of each failing seed. Exits with 1 if a seed fails.
 */
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { build } from 'esbuild'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' }
  }
})
const [seeds, from] = [values.seeds, values.from].map(Number)
if (!Number.isInteger(seeds) || seeds < 1) throw new Error(`--seeds: expected an integer from 1, got ${values.seeds}`)
if (!Number.isInteger(from) || from < 0) throw new Error(`--from: expected an integer from 0, got ${values.from}`)

const root = fileURLToPath(new URL('../', import.meta.url))
const outfile = `${root}build/simulate.js`
await build({
  entryPoints: [`${root}test/simulation/simulate.program.ts`],
  outfile,
  bundle: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  logLevel: 'error'
})

const cores = Math.min(availableParallelism(), seeds)
const startedAt = performance.now()
const latest = Array.from({ length: cores }, () => ({ seeds: 0, events: 0, received: 0, faults: 0, time: 0 }))
let failed = 0

const timer = setInterval(print, 10_000)
const codes = await Promise.all(latest.map((_totals, core) => runCore(core)))
clearInterval(timer)
print()
process.exitCode = failed > 0 || codes.some((code) => code !== 0) ? 1 : 0

async function runCore (core) {
  const args = [outfile, from + core, seeds - core, cores].map(String)
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  for await (const line of createInterface({ input: child.stdout })) {
    const message = JSON.parse(line)
    if ('failure' in message) printFailure(message)
    else latest[core] = message
  }
  return exited
}

function printFailure ({ seed, failure, trace }) {
  failed++
  console.log(`\nseed ${seed}: ${failure}\n${trace.join('\n')}\n`)
}

function print () {
  const sum = (name) => latest.reduce((total, one) => total + one[name], 0)
  const rate = sum('seeds') / (performance.now() - startedAt) * 1000
  console.log([
    `${sum('seeds')} seeds, ${failed} failed, ${rate.toFixed(1)} per second`,
    `${(sum('time') / 86_400_000 / 365).toFixed(2)} simulated years`,
    `${sum('received')} requests read by receivers`,
    `${sum('faults')} faults`
  ].join(', '))
}
