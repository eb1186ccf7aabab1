import { spawnSync } from 'node:child_process'
import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/*
 * Measures JavaScript compiled by tsc and run by plain node, as in a host: a loader would compile at run time and emit
 * other code. One pass of tsc compiles the benchmarks and src/ (`npm run types` checks their types) into a separate
 * folder, so that dist/ does not change. Its package.json maps `fastify-recruiting-api` to the copy next to it.
 */
const root = new URL('../', import.meta.url)
const built = new URL('node_modules/.cache/fastify-recruiting-api-bench/', root)
const benches = ['list', 'deliver', 'drain', 'claim', 'webhooks', 'emit', 'log', 'feed', 'snapshot', 'size', 'neighbours', 'queue', 'agents']

const asked = process.argv.slice(2)
// After `neighbours`, the names of its rows.
const rows = asked[0] === 'neighbours' ? asked.splice(1) : []
const unknown = asked.find((name) => !benches.includes(name))
if (unknown !== undefined) {
  console.error(`unknown benchmark "${unknown}", expected one of ${benches.join(', ')}`)
  process.exit(1)
}

build()
for (const name of asked.length === 0 ? benches : asked) {
  runNode(fileURLToPath(new URL(`bench/${name}/bench.js`, built)), ...rows)
}

function build (): void {
  rmSync(built, { recursive: true, force: true })
  runNode(
    fileURLToPath(new URL('node_modules/typescript/bin/tsc', root)),
    '-p',
    fileURLToPath(new URL('tsconfig.json', import.meta.url))
  )
  writeFileSync(
    new URL('package.json', built),
    JSON.stringify({
      name: 'fastify-recruiting-api',
      type: 'module',
      exports: {
        '.': './src/index.js',
        './memory': './src/storages/memory/index.js',
        './postgres': './src/storages/postgres/index.js',
        './package.json': './package.json'
      }
    })
  )
  for (const folder of ['migrations', 'sql']) {
    const path = `src/storages/postgres/${folder}`
    cpSync(new URL(path, root), new URL(path, built), { recursive: true })
  }
}

function runNode (...args: string[]): void {
  const { status } = spawnSync(process.execPath, args, {
    stdio: 'inherit',
    env: { ...process.env, NODE_OPTIONS: '', NODE_ENV: 'production' }
  })
  if (status !== 0) process.exit(status ?? 1)
}
