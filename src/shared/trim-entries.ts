/** Deletes the oldest entry if there are more than `max` entries. */
export function trimEntries (entries: Map<string, unknown> | Set<string>, max: number): void {
  if (entries.size <= max) return
  const [oldest = ''] = entries.keys()
  entries.delete(oldest)
}
