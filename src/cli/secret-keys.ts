import { readFile } from 'node:fs/promises'
import { type Option, UsageError } from './command.js'
import type { Flags } from './flags.js'

const keyBytes = 32

/** The option that names the file of `secretKeys`. */
export const secretKeysOption: Option = {
  value: 'FILE',
  about: 'the secretKeys of your servers: a key of 32 bytes on each line, as base64 or hexadecimal digits; the first encrypts'
}

/** Reads the file of `--secret-keys`; without the option there are no keys. The messages show nothing of the file. */
export async function readSecretKeys (flags: Flags): Promise<Buffer[]> {
  const path = flags.text('secret-keys')
  if (path === undefined) return []
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`--secret-keys: the file cannot be read (${error.code})`)
  })
  const lines = text.split('\n').map((line) => line.trim()).filter((line) => line !== '')
  if (lines.length === 0) throw new UsageError('--secret-keys: the file has no keys')
  return lines.map(parseKey)
}

function parseKey (line: string, index: number): Buffer {
  const isHex = /^[0-9a-f]{64}$/i.test(line)
  const key = Buffer.from(line, isHex ? 'hex' : 'base64')
  const isKey = isHex || (/^[0-9a-z+/_-]{43}=?$/i.test(line) && key.length === keyBytes)
  if (!isKey) throw new UsageError(`--secret-keys: line ${index + 1} is not a key of ${keyBytes} bytes, as base64 or hexadecimal digits`)
  return key
}
