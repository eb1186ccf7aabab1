import { apiKeys, type ApiKeys } from '../../postgres/index.js'
import type { Context, Option } from '../command.js'

export const prefixOption: Option = { value: 'PREFIX', about: 'the prefix of your keys; the default is rk' }

/** The keys of the database, with the prefix that was given. */
export function openKeys ({ flags, pool, schema }: Context): ApiKeys {
  const prefix = flags.text('prefix')
  return apiKeys(pool, { schema, ...(prefix === undefined ? {} : { prefix }) })
}
