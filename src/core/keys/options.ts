import { apiScopes } from '../api/scopes.js'
import {
  type OptionsOf, type Reader, type SettingsOf, assertOption, integer, switchable
} from '../shared/read-options.js'
import { readScopes } from './api-key.js'

const portalKeysOptions = {
  /**
   * The scopes that customers can grant to keys: those of the API and of your own routes. A key that creates keys can
   * only grant its own scopes. List `api_keys:manage` to let customers create such keys.
   * @default those of the API, without `api_keys:manage`
   */
  scopes: (value: readonly string[] = apiScopes, path: string): readonly string[] => {
    assertOption(readScopes(value, path).length > 0, path, 'at least one scope', value)
    return [...new Set(value)]
  },
  /**
   * Maximum number of valid keys per tenant when a customer creates or rotates one, 1 to 1,000. Keys that you issued
   * count too, and replaced keys until their grace period ends. A rotation without a grace period is always possible.
   * @default 50
   */
  maxKeys: integer(1, 1000, 50),
  /**
   * Days for which a new key is valid, unless its creator chooses fewer, 1 to 3,650.
   * @default 365
   */
  maxDays: integer(1, 3650, 365)
}

/** The option `portal.keys`: how customers manage their API keys. */
export interface PortalKeysOptions extends OptionsOf<typeof portalKeysOptions> {}

export interface PortalKeysSettings extends SettingsOf<typeof portalKeysOptions> {}

/** Returns the settings of the keys that customers manage; `null` without them. Throws `invalid_option`. */
export const readPortalKeysOption: Reader<PortalKeysSettings | null, boolean | PortalKeysOptions> = switchable(
  portalKeysOptions,
  true
)
