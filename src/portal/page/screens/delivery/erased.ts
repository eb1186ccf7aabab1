/** Returns whether the data of an event was erased: only its id, type and time are left. */
export function isErased (body: string): boolean {
  try {
    return (JSON.parse(body) as { erased?: unknown } | null)?.erased === true
  } catch {
    return false
  }
}
