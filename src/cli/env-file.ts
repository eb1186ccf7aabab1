import { parseEnv } from 'node:util'

const url = 'RECRUITING_URL'
const key = 'RECRUITING_API_KEY'

/** The variables that a file may set. Others, such as NODE_OPTIONS, could change where secrets are sent. */
const names = [
  'DATABASE_URL', 'RECRUITING_DATABASE_URL', url, key, 'RECRUITING_WEBHOOK_SECRET', 'RECRUITING_SECRET_KEYS',
  'RECRUITING_ACTOR', 'RECRUITING_AUDIT_FILE', 'PORT', 'RECEIVER_PORT'
]

/**
 * Returns the variables of an `.env` file that the environment lacks. The URL of the API counts only with the key of
 * the same file, so that a foreign folder never decides where a key of the environment or command line is sent.
 */
export function readEnvFile (
  text: string, env: Readonly<Record<string, string | undefined>>, argv: readonly string[]
): Record<string, string> {
  const file = parseEnv(text)
  const isKeyForeign =
    file[key] === undefined || env[key] !== undefined || argv.some((word) => /^--key(-file)?(=|$)/.test(word))
  const used = names.filter((name) => env[name] === undefined && !(name === url && isKeyForeign))
  return Object.fromEntries(used.flatMap((name) => file[name] === undefined ? [] : [[name, file[name]]]))
}
