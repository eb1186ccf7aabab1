/** Parses an absolute URL. Returns `null` for other text. */
export function parseUrl (text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}
