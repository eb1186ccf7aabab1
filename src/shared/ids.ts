/** Returns whether a webhook or delivery can have this id. No storage is asked for others. */
export function isStorableId (id: number): boolean {
  return id >= 1 && Number.isSafeInteger(id)
}
