/*
 * Runs tests with tap. Bundles the files of each folder of `test/` into one program, because one program starts
 * faster than many files, and starts one PostgreSQL server for all of them.
 *
 *   node scripts/test.js                                    the first tier: every `*.test.ts` outside `test/all`
 *   node scripts/test.js --all                              both tiers, or these folders, with the coverage of `src/`
 *   node scripts/test.js --crash                            all of test/crash, or these of its files
 *   node scripts/test.js test/keys test/http/errors.test.ts these folders and files
 *   node scripts/test.js --compile                          compiles the programs that tests start, and runs nothing
 *
 * Options of tap follow after `--`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, readdir, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { join, relative, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('../', import.meta.url))
const require = createRequire(import.meta.url)
const [words, tapOptions] = splitAtDashes(process.argv.slice(2))
const wanted = words.filter((word) => !word.startsWith('--')).map((path) => relative(root, path).replaceAll(sep, '/'))
if (words.includes('--crash') && wanted.length === 0) wanted.push('test/crash')
const isAll = words.includes('--all')

const suites = words.includes('--compile') ? new Map() : groupBySuite(await findTests())
await compile(suites)
// The longest first, so that none of them runs alone at the end.
const longest = ['simulation', 'tenants', 'testing', 'http', 'webhooks', 'postgres']
const names = [...suites.keys()].sort((a, b) => longest.indexOf(b) - longest.indexOf(a))
if (suites.size > 0) process.exitCode = await runSuites(names.map((name) => `build/suites/${name}.js`))

function splitAtDashes (args) {
  const index = args.indexOf('--')
  return index === -1 ? [args, []] : [args.slice(0, index), args.slice(index + 1)]
}

/** Returns the paths of the TypeScript files below a folder. */
async function listSources (folder) {
  const paths = await readdir(join(root, folder), { recursive: true })
  return paths
    .filter((path) => /(?<!\.d)\.ts$/.test(path) && !path.includes('node_modules'))
    .map((path) => `${folder}/${path.replaceAll(sep, '/')}`)
    .sort()
}

async function findTests () {
  const paths = await listSources('test')
  const isWanted = (path) => wanted.length === 0 || wanted.some((one) => path === one || path.startsWith(`${one}/`))
  const isTest = isAll ? /\.test\.ts$/ : wanted.length === 0 ? /^test\/(?!all\/).*\.test\.ts$/ : /\.(test|crash)\.ts$/
  const files = paths.filter((path) => isTest.test(path) && isWanted(path))
  if (files.length === 0) throw new Error(`no test file matches ${wanted.join(', ')}`)
  return files
}

/**
 * A suite is a process: a folder of `test/` or `test/all/`, or a file of `test/all/alone`, which measures its
 * process.
 */
function groupBySuite (files) {
  const suites = new Map()
  for (const file of files) {
    const [, folder, subfolder] = file.split('/')
    const name =
      subfolder === 'alone'
        ? file.slice('test/all/'.length, -'.test.ts'.length)
        : folder === 'all'
          ? `all-${subfolder}`
          : folder
    suites.set(name, [...suites.get(name) ?? [], file])
  }
  return suites
}

/** Writes each suite, and each program that tests start as a process, to `build/`. */
async function compile (suites) {
  const programs = [
    'src/tools/cli/bin.ts',
    ...(await listSources('test')).filter((path) => path.endsWith('.program.ts')),
    ...await listSources('examples')
  ]
  await rm(join(root, 'build'), { recursive: true, force: true })
  await build({
    absWorkingDir: root,
    entryPoints: [
      ...[...suites.keys()].map((name) => ({ in: `suite:${name}`, out: `suites/${name}` })),
      ...programs.map((path) => ({ in: join(root, path), out: path.slice(0, -'.ts'.length) }))
    ],
    outdir: 'build',
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    packages: 'external',
    // The package declares its files free of side effects, which is true only for `src/`.
    ignoreAnnotations: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    sourcemap: true,
    sourcesContent: false,
    charset: 'utf8',
    plugins: [createPlugin(suites)]
  })
}

function createPlugin (suites) {
  return {
    name: 'tests',
    setup ({ onLoad, onResolve }) {
      onResolve({ filter: /^suite:/ }, ({ path }) => ({ path, namespace: 'suite' }))
      onLoad({ filter: /.*/, namespace: 'suite' }, ({ path }) => ({
        contents: suites.get(path.slice('suite:'.length)).map((file) => `import './${file}'`).join('\n'),
        resolveDir: root
      }))
      // The package itself, as imported by its examples.
      onResolve({ filter: /^fastify-recruiting-api/ }, ({ path }) => {
        const entry = path.replace('fastify-recruiting-api', '.')
        if (entry === './package.json') return { external: true }
        const { default: built } = require(join(root, 'package.json')).exports[entry].import
        return { path: join(root, built.replace('dist', 'src').replace('.js', '.ts')) }
      })
      // The checks' own packages are installed in `.ci`, or missing.
      onResolve(
        { filter: /^(@electric-sql\/pglite|axe-core|openapi-fetch|openapi-typescript|playwright-core)(\/|$)/ },
        ({ path }) => {
          const folder = join(root, '.ci/node_modules', path)
          return {
            path: existsSync(folder) ? pathToFileURL(join(folder, findModule(folder))).href : path,
            external: true
          }
        }
      )
      // Files locate others, such as migrations, relative to their source.
      onLoad({ filter: /\.ts$/ }, async ({ path }) => ({
        contents: (await readFile(path, 'utf8')).replaceAll(
          'import.meta.url',
          JSON.stringify(pathToFileURL(path).href)
        ),
        loader: 'ts'
      }))
    }
  }
}

/** Returns the ES module of an installed package. */
function findModule (folder) {
  const { exports, main } = require(join(folder, 'package.json'))
  const entry = exports?.['.']?.import
  return entry?.default ?? entry ?? main
}

/** Runs tap next to a PostgreSQL server, and returns its exit code. */
async function runSuites (files) {
  const server = spawn(process.execPath, ['build/test/fixtures/postgres/server.program.js'], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit']
  })
  try {
    const port = await new Promise((resolve, reject) => {
      server.stdout.once('data', resolve)
      server.once('exit', () => reject(new Error('PostgreSQL did not start')))
    })
    const coverage = isAll
      ? [
          '--allow-incomplete-coverage',
          '--coverage-exclude=test/**',
          '--coverage-exclude=examples/**',
          '--coverage-report=text'
        ]
      : ['--disable-coverage']
    const args = [
      '--reporter=terse',
      // One more than cores, because tests also wait for timeouts.
      `--jobs=${availableParallelism() + 1}`,
      '--serial=build/suites/alone',
      ...coverage,
      ...tapOptions,
      ...files
    ]
    // Without a terminal, each progress step would print new lines.
    const terminal = process.stdout.isTTY ? {} : { CI: 'true', TERM: 'dumb' }
    const env = { ...process.env, ...terminal, TEST_POSTGRES_PORT: String(port).trim() }
    const tap = spawn(join(root, 'node_modules/.bin/tap'), args, { cwd: root, stdio: 'inherit', env })
    const [code] = await once(tap, 'exit')
    return code ?? 1
  } finally {
    server.stdin.end()
  }
}
