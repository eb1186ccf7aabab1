import { TextDecoder } from 'node:util'

/** Collects the beginning of a response. */
export interface Excerpt {
  add (chunk: Buffer): void
  /** Returns the text so far, without a character that is cut; `undefined` if there is none. */
  read (): string | undefined
}

type Headers = Record<string, string | string[] | undefined>

const textual = /^(text\/[^;]+|application\/([^;]+\+)?(json|xml)|application\/x-www-form-urlencoded)\s*(;|$)/i

/** Starts an excerpt of at most `maxBytes`; `null` unless the response is text that is not compressed. */
export function startExcerpt (headers: Headers, maxBytes: number): Excerpt | null {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = headers
  if (maxBytes === 0 || encoding !== 'identity' || typeof type !== 'string') return null
  const decoder = createDecoder(type)
  if (decoder === null) return null
  const chunks: Buffer[] = []
  let left = maxBytes
  return {
    add (chunk) {
      const kept = Buffer.from(chunk.subarray(0, left))
      left -= kept.length
      chunks.push(kept)
    },
    read () {
      const text = decode(decoder, Buffer.concat(chunks))
      return text === '' ? undefined : text
    }
  }
}

/** Without a type, the response is text if it is valid UTF-8. */
function createDecoder (type: string): TextDecoder | null {
  if (type === '') return new TextDecoder('utf-8', { fatal: true })
  if (!textual.test(type)) return null
  const charset = /;\s*charset=\s*"?([^\s";]+)/i.exec(type)?.[1] ?? 'utf-8'
  try {
    return new TextDecoder(charset)
  } catch {
    return null
  }
}

/** PostgreSQL stores neither NUL nor halves of surrogate pairs. */
function decode (decoder: TextDecoder, bytes: Buffer): string {
  try {
    return decoder.decode(bytes, { stream: true }).toWellFormed().replaceAll('\0', '\uFFFD')
  } catch {
    return ''
  }
}
