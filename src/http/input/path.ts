/**
 * The path of a URL as the caller used it, without the slashes that a lenient router ignores: two of them at the start
 * would lead to another host.
 */
export function readPath (url: string): string {
  const end = url.indexOf('?')
  const path = end === -1 ? url : url.slice(0, end)
  return path.replace(/^https?:\/\/[^/]*/i, '').replace(/\/{2,}/g, '/').replace(/\/$/, '')
}
