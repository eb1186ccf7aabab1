import type { McpSettings } from '../mcp/settings.js'
import { parseUrl } from '../shared/addresses.js'
import { expect } from '../shared/expect.js'
import { expectObject, flag, type Readers, readOptions } from '../shared/read-options.js'

/** The option `mcp`: an MCP server for the agents of each tenant, at `{prefix}/:tenant_slug/mcp`. Experimental. */
export interface McpOptions {
  /**
   * Also offers the tools that return a secret: `create_webhook` and `rotate_webhook_secret`.
   * @default false
   */
  secrets?: boolean
  /**
   * Issuers of access tokens, as URLs, for clients that use OAuth. Their tokens reach `keyLookup` as keys of up to 8,192
   * characters. Needs `publicUrl` or `resource`.
   * @default []
   */
  authorizationServers?: readonly string[]
  /**
   * The identifier of a tenant's server, which access tokens are issued for (RFC 8707): a URL in which `{tenant_slug}` stands
   * for the tenant.
   * @default the address of the server, with `publicUrl`
   */
  resource?: string
  /**
   * Origins of web pages that may call the server, such as `https://chat.example`. Requests that are not from a page have no
   * origin, and are allowed.
   * @default []
   */
  origins?: readonly string[]
}

/** Returns the settings of the MCP server; `null` without one. Throws `invalid_option`. */
export function readMcp (value: unknown = false, path: string): McpSettings | null {
  if (value === false) return null
  const options = value === true ? {} : value
  expectObject(options, path, 'a boolean or an object')
  return readOptions(options, mcpReaders, path)
}

/** The default and the check of each option. */
const mcpReaders: Readers<McpSettings> = {
  secrets: flag(false),
  authorizationServers: (value = [], path) => {
    expect(Array.isArray(value), path, 'an array of URLs', value)
    return value.map((url, index) => readUrl(url, `${path}[${index}]`))
  },
  resource: (value = null, path) => value === null ? null : readUrl(value, path),
  origins: (value = [], path) => {
    expect(Array.isArray(value), path, 'an array of origins', value)
    return value.map((origin, index) => readOrigin(origin, `${path}[${index}]`))
  }
} satisfies Readers<Record<keyof McpOptions, unknown>>

function readUrl (value: unknown, path: string): string {
  const isUrl = typeof value === 'string' && /^https?:\/\/[\x21\x23-\x5b\x5d-\x7e]+$/.test(value) && parseUrl(value) !== null && !value.includes('#')
  expect(isUrl, path, 'a URL such as https://auth.example.com, without a fragment', value)
  return value
}

function readOrigin (value: unknown, path: string): string {
  expect(typeof value === 'string' && parseUrl(value)?.origin === value, path, 'an origin such as https://chat.example', value)
  return value
}
