import {
  type OptionsOf, type Reader, type SettingsOf, flag, list, matching, orNull, switchable
} from '../../core/shared/read-options.js'
import { parseUrl } from '../../core/shared/text.js'

const mcpUrl = matching(
  (text) => /^https?:\/\/[\x21\x23-\x5b\x5d-\x7e]+$/.test(text) && parseUrl(text) !== null && !text.includes('#'),
  'a URL such as https://auth.example.com, without a fragment'
)

const mcpOrigin = matching((text) => parseUrl(text)?.origin === text, 'an origin such as https://chat.example')

const mcpOptions = {
  /**
   * Also offers the tools that return a secret: `create_webhook` and `rotate_webhook_secret`.
   * @default false
   */
  secrets: flag(false),
  /**
   * Also serves events to agents, by the extension `io.modelcontextprotocol/events`: they poll or subscribe, and
   * continue where they stopped. Needs a storage with `feed`, and to subscribe one with `subscriptions`.
   * @default false
   */
  events: flag(false),
  /**
   * Issuers of access tokens, as URLs, for clients that use OAuth. `keyLookup` receives their tokens as keys of up to
   * 8,192 characters. Needs `publicUrl` or `resource`.
   * @default []
   */
  authorizationServers: list(mcpUrl, 'an array of URLs'),
  /**
   * The identifier of a tenant's server, which access tokens are issued for (RFC 8707): its address, in which
   * `{tenant_slug}` stands for the tenant, or a folder that contains it. Clients reject any other URL.
   * @default the address of the server, with `publicUrl`
   */
  resource: orNull(mcpUrl),
  /**
   * Origins of web pages that can call the server, such as `https://chat.example`. Requests without an origin, which do
   * not come from a page, are allowed.
   * @default []
   */
  origins: list(mcpOrigin, 'an array of origins')
}

/** The option `mcp`: an MCP server for the agents of each tenant, at `{prefix}/:tenant_slug/mcp`. Experimental. */
export interface McpOptions extends OptionsOf<typeof mcpOptions> {}

export interface McpSettings extends SettingsOf<typeof mcpOptions> {}

/** Returns the settings of the MCP server; `null` without one. Throws `invalid_option`. */
export const readMcp: Reader<McpSettings | null, boolean | McpOptions> = switchable(mcpOptions, false)
