import { open, readFile, rm } from 'node:fs/promises'
import { parseEnv } from 'node:util'
import { type Context, type Io, type Option, UsageError } from './command.js'
import { writeLines } from './terminal.js'

const keyBytes = 32

/** The secrets that commands read, with the variables that can contain them. */
const variables = {
  'database-url': ['RECRUITING_DATABASE_URL', 'DATABASE_URL'],
  proxy: ['RECRUITING_PROXY'],
  key: ['RECRUITING_API_KEY'],
  secret: ['RECRUITING_WEBHOOK_SECRET'],
  'secret-keys': ['RECRUITING_SECRET_KEYS']
} as const

type SecretName = keyof typeof variables
type GivenName = Exclude<SecretName, 'secret-keys'>

/** A secret, and the option or variable that it came from, for errors. */
interface Secret {
  text: string
  source: string
}

/** The options of a secret, such as a key, or of a URL that may contain a password. */
export function secretOptions (name: GivenName, value: string, about: string): Record<string, Option> {
  return {
    [name]: { value, about, variables: variables[name] },
    [`${name}-file`]: {
      value: 'FILE',
      about: `reads --${name} from a file, to keep ${value === 'URL' ? 'passwords' : 'it'} off the command line`
    }
  }
}

/** The file with `secretKeys`. Keys are no option: other users of the machine can read the command line. */
export const secretKeysOption: Option = {
  value: 'FILE',
  about:
    'a file with the secretKeys of your servers: 32-byte keys in base64 or hexadecimal, one per line; the first encrypts',
  variables: variables['secret-keys']
}

/** Reads a secret from `--NAME`, from the file of `--NAME-file` or from its variable; `null` if none is set. */
export async function readSecret (
  { io, flags }: Pick<Context, 'io' | 'flags'>, name: GivenName
): Promise<Secret | null> {
  const text = flags.text(name)
  const path = flags.text(`${name}-file`)
  flags.assertAlone(`${name}-file`, name)
  if (text !== undefined) return { text, source: `--${name}` }
  return path === undefined ? readVariable(io, name) : readSecretFile(path, `--${name}-file`)
}

function readVariable (io: Context['io'], name: SecretName): Secret | null {
  const variable = variables[name].find((known) => isSet(io.env[known]))
  return variable === undefined ? null : { text: String(io.env[variable]), source: variable }
}

async function readTextFile (path: string, source: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${source}: the file cannot be read (${error.code})`)
  })
}

/** Reads the argument `FILE` as a JSON array, such as `a JSON array of keys`. */
export async function readJsonArray (path: string, expected: string): Promise<unknown[]> {
  const entries = await readJsonFile(path)
  if (Array.isArray(entries) && entries.length > 0) return entries
  throw new UsageError(`FILE: expected ${expected}`)
}

/** Reads the argument `FILE` as JSON; `undefined` if it is invalid: the error would quote it, including secrets. */
export async function readJsonFile (path: string): Promise<unknown> {
  const text = await readTextFile(path, 'FILE')
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

async function readSecretFile (path: string, source: string): Promise<Secret> {
  const text = (await readTextFile(path, source)).trim()
  if (text === '') throw new UsageError(`${source}: the file is empty`)
  return { text, source }
}

export function isSet (value: string | undefined): boolean {
  return value !== undefined && value.trim() !== ''
}

/** Reads the servers' `secretKeys`. Returns an empty array without them. Errors never contain a key. */
export async function readSecretKeys ({ io, flags }: Pick<Context, 'io' | 'flags'>): Promise<Buffer[]> {
  const path = flags.text('secret-keys')
  const secret = path === undefined ? readVariable(io, 'secret-keys') : await readSecretFile(path, '--secret-keys')
  if (secret === null) return []
  return secret.text.trim().split(/[\s,]+/).map((key, index) => parseKey(key, `${secret.source}: key ${index + 1}`))
}

function parseKey (text: string, name: string): Buffer {
  const isHex = /^[0-9a-f]{64}$/i.test(text)
  const key = Buffer.from(text, isHex ? 'hex' : 'base64')
  const isKey = isHex || (/^[0-9a-z+/_-]{43}=?$/i.test(text) && key.length === keyBytes)
  if (!isKey) throw new UsageError(`${name} is not ${keyBytes} bytes in base64 or hexadecimal`)
  return key
}

export const outOption: Option = {
  value: 'FILE',
  about: 'writes the secret to a new file that only you can read, instead of the terminal'
}

/**
 * Runs `work`, which creates a secret and passes it to `keep` before it commits. `keep` writes it to the new file of
 * `--out`. Without `--out`, the terminal shows it after the commit. Throws before anything changes if there is neither.
 */
export async function withSecretOutput<Result> (
  { io, flags }: Context, work: (keep: (secret: string) => Promise<void>) => Promise<Result>
): Promise<Result> {
  const path = flags.text('out')
  if (path !== undefined) return withSecretFile(path, work)
  if (flags.has('json')) throw new UsageError('--out: required, because --json never shows a secret; add --out FILE')
  if (!io.showsResults) {
    throw new UsageError('--out: required, because secrets are only shown on a terminal; add --out FILE')
  }
  let shown = ''
  const result = await work(async (secret) => { shown = secret })
  writeLines(io.out, [shown])
  writeLines(io.err, ['It cannot be shown again.'])
  return result
}

async function withSecretFile<Result> (
  path: string, work: (keep: (secret: string) => Promise<void>) => Promise<Result>
): Promise<Result> {
  const file = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    const problem = error.code === 'EEXIST'
      ? 'the file already exists, choose another name'
      : `the file cannot be created (${error.code})`
    throw new UsageError(`--out: ${problem}`)
  })
  let isDone = false
  try {
    const result = await work(async (secret) => {
      await file.writeFile(`${secret}\n`)
      await file.sync()
    })
    isDone = true
    return result
  } finally {
    await file.close()
    if (!isDone) await rm(path, { force: true })
  }
}

/**
 * Reads the database URL of the `.env` file in the current folder, and reports the file. Nothing else in the file is
 * used, and only a URL with its own password: others chose what a foreign folder contains, and PGPASSWORD must not be
 * sent to their server. `null` if there is no URL.
 */
export async function readEnvFileUrl ({ readEnvFile, err }: Io): Promise<Secret | null> {
  const file = await readEnvFile()
  const values = parseEnv(file?.text ?? '')
  const text = variables['database-url'].map((name) => values[name]).find(isSet)
  if (file === null || text === undefined) return null
  if (!/^\w+:\/\/[^/?#@:]*:[^/?#@]+@/.test(text)) {
    throw new UsageError(`${file.path}: the database URL has no password, so it is not used: set DATABASE_URL yourself`)
  }
  writeLines(err, [`using the database URL of ${file.path}`])
  return { text, source: file.path }
}
