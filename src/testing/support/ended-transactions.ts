import type { StorageHarness } from './harness.js'

/** Returns a committed transaction and one rolled back; `[]` for a storage without transactions. */
export async function endedTransactions (harness: StorageHarness): Promise<unknown[]> {
  if (harness.begin === undefined) return []
  const committed = await harness.begin()
  await committed.commit()
  const rolledBack = await harness.begin()
  await rolledBack.rollback()
  return [committed.transaction, rolledBack.transaction]
}
