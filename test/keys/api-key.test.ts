import { readFile } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import t from 'tap'
import { apiKeyPattern, generateApiKey, isApiKey } from '../../src/index.js'

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

t.test('a key is its prefix, 43 random characters and a checksum of 6', async (t) => {
  for (const prefix of [undefined, 'ab', 'k9', 'acmeats', 'a123456789012345']) {
    const key = generateApiKey(prefix)
    t.match(key, new RegExp(`^${prefix ?? 'rk'}_[0-9A-Za-z]{49}$`))
    t.equal(isApiKey(key, prefix), true, key)
  }
  t.equal(new Set(Array.from({ length: 1000 }, () => generateApiKey())).size, 1000)
})

t.test('the checksum is CRC-32 of everything before it, in base62, padded with 0', async (t) => {
  for (let count = 0; count < 200; count++) {
    const key = generateApiKey()
    const value = [...key.slice(-6)].reduce((sum, digit) => sum * 62 + digits.indexOf(digit), 0)
    t.equal(value, crc32(key.slice(0, -6)), key)
  }
  const zeros = `rk_${'152'.padStart(43, '0')}`
  t.equal(isApiKey(`${zeros}00GKxD`), true)
  t.equal(isApiKey(`${zeros}GKxD00`), false)
})

t.test('each character of the random part takes every value', async (t) => {
  const keys = Array.from({ length: 2000 }, () => generateApiKey().slice(3, -6))
  for (const at of [1, 21, 42]) t.equal(new Set(keys.map((key) => key[at])).size, 62, `character ${at}`)
})

t.test('a key with any other character is invalid', async (t) => {
  const key = generateApiKey()
  for (let at = 0; at < key.length; at++) {
    for (const other of ['0', 'z', '_', 'é']) {
      const changed = key.slice(0, at) + other + key.slice(at + 1)
      t.equal(isApiKey(changed), changed === key, changed)
    }
  }
  const swapped = [...key].toSpliced(10, 2, key.charAt(11), key.charAt(10)).join('')
  t.equal(isApiKey(swapped), swapped === key)
})

t.test('any other text is not a key', async (t) => {
  const key = generateApiKey()
  const others = [`${key} `, ` ${key}`, `${key}\n`, key.slice(1), key.slice(0, -1), `${key}0`, key.toUpperCase(), '', 'rk_', null, undefined, 5, [key], { key }]
  for (const other of others) t.equal(isApiKey(other), false, String(other))
  t.equal(isApiKey(key, 'other'), false)
  t.equal(isApiKey(generateApiKey('other')), false)
})

t.test('the pattern finds keys in text, and nothing longer or shorter', async (t) => {
  const pattern = apiKeyPattern('acme')
  const key = generateApiKey('acme')
  for (const text of [key, `API_KEY=${key}`, `{"key":"${key}"}`, `Bearer ${key}\n`, `https://example.com/?key=${key}&b=1`]) {
    t.equal(pattern.exec(text)?.[0], key, text)
  }
  for (const text of [`${key}0`, `x${key}`, key.slice(0, -1), generateApiKey(), key.replace('_', '-')]) t.equal(pattern.test(text), false, text)
  t.equal(pattern.source, '\\bacme_[0-9A-Za-z]{49}\\b')
})

t.test('an invalid prefix is rejected', async (t) => {
  for (const prefix of ['', 'a', 'A1', '1a', 'a_b', 'ab-c', 'aé', 'a'.repeat(17), 5, null]) {
    for (const call of [generateApiKey, apiKeyPattern, (wrong: string) => isApiKey('text', wrong)]) {
      t.throws(() => call(prefix as string), { code: 'invalid_option', field: 'prefix' }, String(prefix))
    }
  }
})

t.test('docs/security.md shows the pattern', async (t) => {
  const page = await readFile(new URL('../../docs/security.md', import.meta.url), 'utf8')
  t.match(page, `\n${apiKeyPattern().source}\n`)
})
