import { type ThemeHint, readThemeHint } from '../look/theme-hint.js'

const known = ['read', 'write', 'secrets', 'bodies', 'test', 'replay'] as const

/** Browsers take `//`, also with a backslash or a tab within, for another host. */
const path = /^\/(?![/\\])[^\p{Cc}\s\\]*$/u

/** Something a session may do. */
export type Capability = typeof known[number]

/** A session as the page holds it, in memory alone. All but the token are hints: the server decides. */
export interface Session {
  token: string
  tenantSlug: string
  /** Milliseconds since 1970. */
  expiresAt: number
  capabilities: ReadonlySet<Capability>
  locale: string | null
  theme: ThemeHint
  /** An http or https URL, or a path of the API's origin. */
  returnUrl: string | null
}

/** Reads a session from the fragment of a URL, or from the whole URL; `null` if it has none. */
export function readSession (text: string): Session | null {
  const fields = new URLSearchParams(text.slice(text.indexOf('#') + 1))
  const token = fields.get('token')
  const tenantSlug = fields.get('tenant')
  const expiresAt = Date.parse(fields.get('expires_at') ?? '')
  if (!token || !tenantSlug || Number.isNaN(expiresAt)) return null
  const names = (fields.get('capabilities') ?? '').split(',')
  return {
    token,
    tenantSlug,
    expiresAt,
    capabilities: new Set(known.filter((name) => name === 'read' || names.includes(name))),
    locale: fields.get('locale'),
    theme: readThemeHint(fields),
    returnUrl: readReturnUrl(fields.get('return_url'))
  }
}

/** A link with a script in it would run with the session of the person who follows it. */
function readReturnUrl (text: string | null): string | null {
  if (text === null) return null
  if (path.test(text)) return text
  try {
    const { protocol, href } = new URL(text)
    return protocol === 'https:' || protocol === 'http:' ? href : null
  } catch {
    return null
  }
}
