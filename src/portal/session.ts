import { type PortalCapability, capabilities } from '../http/sessions.js'
import type { Clock } from '../ports/index.js'
import {
  assertOption,
  rejectOption,
  type OptionsOf,
  type SettingsOf,
  choice,
  integer,
  list,
  optional,
  plainText,
  readInput,
  unread
} from '../shared/read-options.js'
import { parseUrl } from '../shared/text.js'
import {
  type CheckedReference, type TenantReference, type Tenants, readTenant, refuseNameless, showTenant
} from '../shared/tenants.js'
import { readTheme, type PortalSettings } from '../options/options.js'
import { readLocale } from './messages.js'
import { createSessionBox } from './token.js'

/** Creates portal sessions for the users of a tenant. */
export interface RecruitingPortal {
  /**
   * Creates a session of the portal for a user whom you have signed in. Nothing is stored. Throws `invalid_input`,
   * whose `field` names the wrong one, `unknown_tenant`, `tenant_resting`, and `invalid_option` without the option
   * `portal`.
   */
  createSession (session: PortalSessionInput): Promise<PortalSession>
}

/** A session of the portal. */
export interface PortalSession {
  /** The address of the portal with the session in its fragment: open or embed it right away, and never store it. */
  url: string
  /** The token, which the API accepts in place of an API key. */
  token: string
  /** When the session ends, as an RFC 3339 date-time. */
  expiresAt: string
}

/** The address of the API, its tenants and its audit. */
interface Api {
  tenants: Tenants
  /** Receives each session that was created. */
  report (call: { operationId: string, tenantSlug: string, tenantId: string, actor: string }): void
  /** The option `publicUrl`; may be empty. */
  publicUrl: string
  prefix: string
}

/** Creates `app.recruiting.portal` for an API with this address. Without settings its calls throw. */
export function createPortal (
  settings: PortalSettings | null,
  { publicUrl, prefix, tenants, report }: Api,
  clock: Pick<Clock, 'now'>
): RecruitingPortal {
  if (settings === null) return { createSession: async () => rejectOption('portal', 'the option to be set', undefined) }
  const box = createSessionBox(settings.secretKeys, clock)
  const address = `${settings.baseUrl || publicUrl}${prefix}/portal/`
  return {
    async createSession (input) {
      const request = readSessionInput(input, settings.returnOrigins)
      const issuedAt = clock.now()
      const expiresAt = issuedAt + request.expiresInSeconds * 1000
      const tenantId = await tenants.getId(request.tenant)
      // The page reaches the API by the slug.
      const tenantSlug = request.tenant.slug ?? (await tenants.findSlug(tenantId)) ?? refuseNameless(tenantId)
      const token = box.seal(tenantId, { ...request, issuedAt, expiresAt })
      const session = { token, expiresAt: new Date(expiresAt).toISOString() }
      report({ operationId: 'createSession', tenantSlug: showTenant(input), tenantId, actor: request.actor })
      return { url: `${address}#${formatFragment(request, tenantSlug, session)}`, ...session }
    }
  }
}

/**
 * The fragment never leaves the browser, so the token reaches no log and no `Referer`. Everything else is a hint for
 * the page.
 */
function formatFragment (
  request: SessionRequest,
  tenantSlug: string,
  { token, expiresAt }: Omit<PortalSession, 'url'>
): string {
  const { accent, ...theme } = request.theme
  const fields = {
    token,
    tenant: tenantSlug,
    expires_at: expiresAt,
    capabilities: request.capabilities.join(),
    locale: request.locale,
    mode: theme.mode,
    accent_light: accent?.light,
    accent_dark: accent?.dark,
    radius: theme.radius,
    font: theme.font,
    return_url: request.returnUrl
  }
  const given = Object.entries(fields).flatMap(
    ([name, value]): Array<[string, string]> => value === undefined ? [] : [[name, value]]
  )
  return new URLSearchParams(given).toString()
}

/** The doc, type, default and check of each option. */
const sessionOptions = {
  /**
   * Everything that the session may do: `read` (always), `write`, `secrets`, `bodies`, `test`, `replay`, `keys`.
   * Only with `bodies` can it change the `target_url` of a webhook and set its filters. With `write` and `secrets` it
   * can add a webhook, whose endpoint receives bodies. With `keys` it manages API keys, which can have all scopes of
   * `portal.keys` and need no session.
   * @default ['read']
   */
  capabilities: readCapabilities,
  /**
   * How long the session is valid, in seconds, 60 to 3,600.
   * @default 900
   */
  expiresInSeconds: integer(60, 3600, 900),
  /**
   * The language of the portal, such as `de` or `en-GB`.
   * @default that of the browser
   */
  locale: optional(readLocale),
  /**
   * The look of the portal in this session. Overrides the option `portal`.
   * @default {}
   */
  theme: readTheme
}

/**
 * The session to create, of the tenant whose webhooks the portal shows. By its id, the option `tenantSlug` must know
 * its slug.
 */
export type PortalSessionInput = TenantReference & PortalSessionFields

/** The session to create, without its tenant. */
export interface PortalSessionFields extends OptionsOf<typeof sessionOptions> {
  /**
   * Who uses the portal, for the audit log, such as the id of a user: 1 to 128 characters without control characters.
   */
  actor: string
  /**
   * The page that the portal links back to: a path such as `/settings`, or a URL of an origin in
   * `portal.returnOrigins`.
   * @default none
   */
  returnUrl?: string
}

/** A checked session; `undefined` for what is not given. */
interface SessionRequest extends SettingsOf<typeof sessionOptions> {
  tenant: CheckedReference
  actor: string
  returnUrl: string | undefined
}

/** Checks a session to create. Throws `invalid_input`. */
function readSessionInput (input: PortalSessionInput, returnOrigins: readonly string[]): SessionRequest {
  const readers = { actor: plainText(128), ...sessionOptions, returnUrl: optional(readReturnUrl(returnOrigins)) }
  const { tenantSlug, tenantId, ...request } = readInput(input, { tenantSlug: unread, tenantId: unread, ...readers })
  return { ...request, tenant: readTenant({ tenantSlug, tenantId }) }
}

const readNames = list(choice(capabilities), 'an array of capabilities')

function readCapabilities (value: readonly PortalCapability[] | undefined, path: string): readonly PortalCapability[] {
  const given = readNames(value, path)
  return capabilities.filter((name) => name === 'read' || given.includes(name))
}

/**
 * Returns a reader of a path or a URL of these origins. Browsers read `/\other.example` as another host, like two
 * slashes.
 */
function readReturnUrl (origins: readonly string[]): (value: unknown, path: string) => string {
  const expected = 'a path that begins with one slash, or a URL of an origin in portal.returnOrigins'
  return (value, path) => {
    assertOption(
      typeof value === 'string' && value.length <= 2048 && !/[\p{Cc}\s\\]/u.test(value),
      path,
      expected,
      value
    )
    if (/^\/(?!\/)/.test(value)) return value
    const url = parseUrl(value)
    const isListed = url !== null && origins.includes(url.origin) && url.username + url.password === ''
    assertOption(isListed, path, expected, value)
    return url.href
  }
}
