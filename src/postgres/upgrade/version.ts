import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { RecruitingApiError } from '../../errors.js'
import { packageFolder } from '../../shared/package-folder.js'
import { type Rights, rights } from '../grants.js'
import type { Session } from '../session.js'

/** The SQL of a version of this package. */
export interface Version {
  /** By the names of the files, which is also their order. */
  migrations: ReadonlyMap<string, string>
  /** The statements that create functions, by their names. */
  functions: ReadonlyMap<string, string>
  rights: Rights
}

let own: Promise<Version> | null = null

/** Reads the SQL files of this version, once per process. Throws `storage_not_ready`. */
export function readVersion (): Promise<Version> {
  own ??= readFolder(new URL('src/postgres/', packageFolder()))
  return own
}

/** Reads the SQL files of a version. Throws `storage_not_ready`. */
export async function readFolder (folder: URL): Promise<Version> {
  const [migrations, functions] = await Promise.all([
    readFiles(new URL('migrations/', folder)),
    readFiles(new URL('sql/', folder))
  ])
  return { migrations, functions: new Map([...functions.values()].flatMap(splitFunctions)), rights }
}

function splitFunctions (text: string): Array<[name: string, text: string]> {
  return [...text.matchAll(/^create or replace function (\w+)[^]*?^\$\$;$/gm)]
    .map(([statement, name = '']) => [name, statement])
}

async function readFiles (folder: URL): Promise<Map<string, string>> {
  try {
    const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
    return new Map(
      await Promise.all(
        names.map(async (name): Promise<[string, string]> => [name, await readFile(new URL(name, folder), 'utf8')])
      )
    )
  } catch (error) {
    const problem = `there are no SQL files in ${fileURLToPath(folder)}: install fastify-recruiting-api beside your bundle, with all of its files`
    throw new RecruitingApiError('storage_not_ready', problem, 'migrations', { cause: error })
  }
}

const intervalMs = 60 * 60 * 1000

/** Functions that no version has used for this time may be dropped. */
export const unseenAfter = "interval '1 day'"

/** Records which functions this process calls, so that `migrate` keeps them. */
interface Seen {
  record (): Promise<void>
  /** Called before every query: records it again at most once an hour, and throws the error of `refuse`. */
  keep (): void
  /** Makes all later queries fail with this error; `null` allows them again. */
  refuse (error: Error | null): void
}

async function listOwnFunctions (): Promise<string[]> {
  return [...(await readVersion()).functions.keys()]
}

/** `schema` is quoted. */
export function createSeen (
  session: Session,
  schema: string,
  listFunctions = listOwnFunctions,
  now = () => performance.now()
): Seen {
  let recordedAt = now()
  let refusal: Error | null = null

  async function record (): Promise<void> {
    recordedAt = now()
    await session.query(
      'record version',
      `
      insert into ${schema}.versions as v (functions, seen_at) values ($1, clock_timestamp())
      on conflict (functions) do update set seen_at = excluded.seen_at
      where v.seen_at < excluded.seen_at - interval '10 minutes'`,
      [await listFunctions()]
    )
  }

  return {
    record,
    refuse (error) {
      refusal = error
    },
    keep () {
      if (refusal !== null) throw refusal
      if (now() - recordedAt < intervalMs) return
      record().catch(() => {
        // Functions are kept for a day, so the next hour is soon enough.
      })
    }
  }
}

/** Returns the session, which keeps the version recorded while it is used, and rejects everything after a refusal. */
export function keepSeen (session: Session, seen: Pick<Seen, 'keep'>): Session {
  return {
    async query (operation, text, values) {
      seen.keep()
      return session.query(operation, text, values)
    },
    async transaction (operation, work) {
      seen.keep()
      return session.transaction(operation, work)
    }
  }
}
