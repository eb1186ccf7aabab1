import { createHmac, timingSafeEqual } from 'node:crypto'
import { createOnce } from './cached.js'

export type Tokens = ReturnType<typeof createTokens>

/** The state that the service continues from. */
type TokenState = ReadonlyArray<string | null>

/** Longer tokens are rejected unread. */
const maxLength = 512

/** Creates tokens authenticated with the storage's secret, which is read once. */
export function createTokens (source: { tokenSecret (): Promise<Uint8Array> }) {
  const readSecret = createOnce(() => source.tokenSecret())

  return {
    /** Returns the state of a token; `null` unless it is valid for the subject. */
    read: async (subject: string, token: string) => parseToken(await readSecret(), subject, token),

    /** Formats a token that is valid only for `subject`, such as a resource and a tenant. */
    async format (subject: string, state: TokenState): Promise<string> {
      const content = Buffer.from(JSON.stringify(state)).toString('base64url')
      return `${content}.${sign(await readSecret(), subject, content).toString('base64url')}`
    }
  }
}

function parseToken (secret: Uint8Array, subject: string, token: string): TokenState | null {
  const [content = '', signature = '', ...rest] = token.split('.')
  if (token.length > maxLength || rest.length > 0) return null
  const given = Buffer.from(signature, 'base64url')
  const expected = sign(secret, subject, content)
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null
  return JSON.parse(Buffer.from(content, 'base64url').toString()) as TokenState
}

function sign (secret: Uint8Array, subject: string, content: string): Buffer {
  return createHmac('sha256', secret).update(`${subject}\n${content}`).digest()
}
