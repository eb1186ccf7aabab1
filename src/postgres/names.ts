import { refuse } from './parse-options.js'

/** Where this package keeps its own tables unless told otherwise. */
const defaultSchema = 'recruiting'

const maxNameBytes = 63

/** Quotes a name for SQL. */
export function quoteName (name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Checks the name of a schema. Throws `invalid_option`. */
export function parseSchema (schema: unknown = defaultSchema): string {
  const isName = typeof schema === 'string' && schema !== '' && Buffer.byteLength(schema) <= maxNameBytes &&
    schema.isWellFormed() && !schema.includes('\0') && !schema.startsWith('pg_')
  return isName ? schema : refuse('schema', `expected a name of 1 to ${maxNameBytes} bytes that does not begin with pg_`)
}
