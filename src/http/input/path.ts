/**
 * Returns the path of a request URL without repeated and trailing slashes, which a lenient router ignores. In a link, two
 * slashes at the start would name another host.
 */
export function readPath (url: string): string {
  const end = url.indexOf('?')
  const path = end === -1 ? url : url.slice(0, end)
  return path.replace(/^https?:\/\/[^/]*/i, '').replace(/\/{2,}/g, '/').replace(/\/$/, '')
}
