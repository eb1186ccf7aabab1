import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const algorithm = 'aes-256-gcm'
const ivLength = 12
const tagLength = 16

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
