import type { IssuedApiKey, PgClient } from '../../postgres/index.js'
import { confirm } from '../ask.js'
import type { Context } from '../command.js'
import { inTransaction } from '../database.js'
import { formatRecord, show } from '../output.js'
import { withSecretOutput } from '../secret-output.js'

/** Asks, creates a key and shows it once. Nothing is stored if the key cannot be written to its file. */
export async function createKey (context: Context, change: string, create: (transaction: PgClient) => Promise<IssuedApiKey>): Promise<number> {
  const created = await withSecretOutput(context, async (keep) => {
    await confirm(context, change)
    return inTransaction(context.pool, async (transaction) => {
      const { key, ...stored } = await create(transaction)
      await keep(key)
      return stored
    })
  })
  show(context, created, formatRecord(created))
  return 0
}
