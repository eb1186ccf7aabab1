/** One more than the highest code point. */
const base = 0x110000n

/** Writes text as one number, because 128 characters would take up to 512 bytes of UTF-8. They take at most 322 here. */
export function toBytes (text: string): Buffer {
  let number = 1n
  for (const character of text) number = number * base + BigInt(Number(character.codePointAt(0)))
  const digits = number.toString(16)
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')
}

/** Reads what `toBytes` wrote. */
export function fromBytes (bytes: Buffer): string {
  let text = ''
  for (let number = BigInt(`0x${bytes.toString('hex')}`); number > 1n; number /= base) {
    text = String.fromCodePoint(Number(number % base)) + text
  }
  return text
}
