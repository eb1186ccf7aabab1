import { spawnSync } from 'node:child_process'
import { lstatSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/*
 * Measures what the package adds to a host with Fastify: packages and disk space, and startup time and memory with one
 * registration. Builds and packs the tarball as for publishing.
 */
const starts = 21
const scratch = mkdtempSync(join(tmpdir(), 'recruiting-size-'))
try {
  measure()
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

function measure (): void {
  npm(process.cwd(), 'pack', '--silent', '--pack-destination', scratch)
  const tarball = readdirSync(scratch).find((name) => name.endsWith('.tgz')) ?? ''
  const { version } = JSON.parse(readFileSync('node_modules/fastify/package.json', 'utf8')) as { version: string }
  writeFileSync(join(scratch, 'package.json'), '{ "private": true }')
  npm(scratch, 'install', '--ignore-scripts', `fastify@${version}`)
  const before = readInstalled()
  npm(scratch, 'install', '--ignore-scripts', join(scratch, tarball))
  const after = readInstalled()
  const added = [...after].filter(([name]) => !before.has(name)).sort(([, a], [, b]) => b - a)

  console.log(
    `\nsize: what a host with Fastify ${version} (${before.size} packages, ${format(sum(before))}) gets besides`
  )
  console.log(
    `  ${added.length} packages, ${format(sum(new Map(added)))}; the tarball has ${format(lstatSync(join(scratch, tarball)).size)}, at most 1,000 kB`
  )
  for (const [name, bytes] of added) console.log(`  ${format(bytes).padStart(9)}  ${name}`)
  measureStart()
}

/** Starts both servers in turn, each in a separate process. Fastify is loaded before the measurement begins. */
function measureStart (): void {
  writeFileSync(join(scratch, 'plain.mjs'), startScript(''))
  writeFileSync(join(scratch, 'ours.mjs'), startScript(`
    const { default: recruitingApi } = await import('fastify-recruiting-api')
    const { memoryKeyLookup, memoryStorage } = await import('fastify-recruiting-api/memory')
    await app.register(recruitingApi, { storage: memoryStorage(), keyLookup: memoryKeyLookup([]) })`))
  const pairs = Array.from({ length: starts }, () => ({ plain: start('plain.mjs'), ours: start('ours.mjs') }))
  const added = (unit: keyof Start): number => median(pairs.map(({ plain, ours }) => ours[unit] - plain[unit]))
  console.log(
    `\n  the start takes ${Math.round(added('ms'))} ms longer, target 150, and ${format(added('bytes'))} more memory, target 30 MB; median of ${starts}`
  )
}

interface Start {
  ms: number
  bytes: number
}

function startScript (registration: string): string {
  return `
    import Fastify from 'fastify'
    await Fastify().ready()
    const startedAt = performance.now()
    const before = process.memoryUsage().rss
    const app = Fastify()
    ${registration}
    await app.ready()
    console.log(JSON.stringify({ ms: performance.now() - startedAt, bytes: process.memoryUsage().rss - before }))
    await app.close()`
}

function start (script: string): Start {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], { cwd: scratch, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${script}: ${stderr}`)
  return JSON.parse(stdout) as Start
}

function median (values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

function npm (cwd: string, ...args: string[]): void {
  const { status, stderr } = spawnSync('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd,
    encoding: 'utf8'
  })
  if (status !== 0) throw new Error(`npm ${args.join(' ')}: ${stderr}`)
}

/** Returns the bytes of every installed package by path. */
function readInstalled (): Map<string, number> {
  const { packages } = JSON.parse(readFileSync(join(scratch, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, object>
  }
  const paths = Object.keys(packages).filter((path) => path !== '')
  return new Map(paths.map((path) => [path.replace('node_modules/', ''), sizeOf(join(scratch, path))]))
}

/** Excludes nested packages, which are counted separately. */
function sizeOf (path: string): number {
  const entry = lstatSync(path)
  if (!entry.isDirectory()) return entry.size
  return readdirSync(path)
    .filter((name) => name !== 'node_modules')
    .reduce((total, name) => total + sizeOf(join(path, name)), 0)
}

function sum (sizes: Map<string, number>): number {
  return [...sizes.values()].reduce((total, bytes) => total + bytes, 0)
}

function format (bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}
