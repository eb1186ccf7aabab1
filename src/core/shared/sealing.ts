import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const algorithm = 'aes-256-gcm'
const ivLength = 12
const tagLength = 16

/** The owner of a sealed secret: `open` must only open secrets that `seal` sealed for the same owner. */
export interface SecretContext {
  /** The tenant's id: its slug without the option `tenantId`. */
  tenantId: string
  /** 0 for the key that seals the response to a request with `Idempotency-Key`. */
  webhookId: number
}

/**
 * Functions that seal webhook secrets and headers, for example with a KMS. If one throws or takes longer than 5
 * seconds, deliveries wait for the next claim and requests get a 5xx.
 */
export interface SecretFunctions {
  /** Encrypts the UTF-8 bytes of a secret or of headers. Returns the bytes to store, at least one. */
  seal (plain: Uint8Array, context: SecretContext): Uint8Array | Promise<Uint8Array>
  /** Decrypts what `seal` returned. Returns `null` if it cannot. Called for every delivery. */
  open (sealed: Uint8Array, context: SecretContext): Uint8Array | null | Promise<Uint8Array | null>
  /**
   * Keys of 32 bytes that `secretKeys` contained before. They only open. `resealSecrets` reseals their secrets with
   * `seal`.
   * @default []
   */
  keys?: readonly Uint8Array[]
}

/** The option `secretKeys`: functions, or keys. The first key seals, all keys open. */
export type SecretKeys = readonly Uint8Array[] | SecretFunctions

/** Encrypts with AES-256-GCM and a key of 32 bytes. Returns the nonce, the ciphertext and the tag. */
export function seal (key: Uint8Array, plain: Uint8Array, associated: Uint8Array): Buffer {
  const iv = randomBytes(ivLength)
  const cipher = createCipheriv(algorithm, key, iv).setAAD(associated)
  return Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/** Decrypts what `seal` returned. Returns `null` for anything sealed with another key or for other associated data. */
export function unseal (key: Uint8Array, sealed: Uint8Array, associated: Uint8Array): Buffer | null {
  const tagStart = sealed.length - tagLength
  if (tagStart < ivLength) return null
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, ivLength))
    .setAAD(associated)
    .setAuthTag(sealed.subarray(tagStart))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(ivLength, tagStart)), decipher.final()])
  } catch {
    return null
  }
}
