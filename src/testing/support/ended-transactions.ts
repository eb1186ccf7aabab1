import type { StorageHarness } from './harness.js'

/** One transaction that was committed and one that was rolled back; none if the storage has no transactions. */
export async function endedTransactions (harness: StorageHarness): Promise<unknown[]> {
  if (harness.begin === undefined) return []
  const committed = await harness.begin()
  await committed.commit()
  const rolledBack = await harness.begin()
  await rolledBack.rollback()
  return [committed.transaction, rolledBack.transaction]
}
