import { type FileHandle, open } from 'node:fs/promises'
import { type AuditedCall, describeCall } from '../observe/audit.js'
import { omitUndefined } from '../shared/fields.js'
import { isPlainText } from '../shared/text.js'
import { type Flags, type Io, type Option, UsageError } from './command.js'

/** The options of every command that say who runs it, and where that is written. */
export const auditOptions: Readonly<Record<'actor' | 'audit-file', Option>> = {
  actor: { value: 'NAME', about: 'who runs the command, for --audit-file', variables: ['RECRUITING_ACTOR'] },
  'audit-file': {
    value: 'FILE',
    about: 'appends what the command did to a file, as a line of JSON',
    variables: ['RECRUITING_AUDIT_FILE']
  }
}

/** Writes what commands did. */
export interface AuditFile {
  /** With `error`, the command failed after it may have changed something. */
  write (call: AuditedCall, error?: string): Promise<void>
  close (): Promise<void>
}

/** Opens the file of `--audit-file`, before the command does anything; without the option, nothing is written. */
export async function openAudit ({ io, flags }: { io: Io, flags: Flags }): Promise<AuditFile> {
  const read = (name: keyof typeof auditOptions): string | undefined =>
    flags.text(name) ?? auditOptions[name].variables?.map((variable) => io.env[variable]).find((value) => value)
  const actor = read('actor') ?? null
  if (actor !== null && !isPlainText(actor, 128)) {
    throw new UsageError(
      `--actor: expected 1 to 128 characters without control characters, got ${JSON.stringify(actor)}`
    )
  }
  const path = read('audit-file')
  const file = path === undefined ? null : await openFile(path)
  return {
    async write (call, error) {
      const entry = {
        time: new Date(io.now()).toISOString(),
        ...describeCall('command', actor, call),
        ...omitUndefined({ error })
      }
      await file?.appendFile(`${JSON.stringify(entry)}\n`)
    },
    async close () {
      await file?.close()
    }
  }
}

async function openFile (path: string): Promise<FileHandle> {
  return open(path, 'a', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`--audit-file: the file cannot be written (${error.code})`)
  })
}
