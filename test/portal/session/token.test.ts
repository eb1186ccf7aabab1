import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { capabilities } from '../../../src/http/sessions.js'
import { createSessionBox } from '../../../src/portal/session.js'
import { isPlainText } from '../../../src/shared/text.js'

const start = Date.UTC(2026, 2, 1)
const minute = 60_000
const [key, other] = [randomBytes(32), randomBytes(32)]
const session = { actor: 'user:17', capabilities: ['read', 'replay'], issuedAt: start, expiresAt: start + 15 * minute } as const

function boxAt (now: number, keys = [key]) {
  return createSessionBox(keys, { now: () => now })
}

function openAt (now: number, token: string, tenantSlug = 'acme') {
  return boxAt(now).open({ tenantSlug, key: token })
}

const token = boxAt(start).seal('acme', session)

t.test('a token opens to its actor and capabilities', async (t) => {
  t.match(token, /^rps\.[\w-]+$/)
  t.match(openAt(start, token), { actor: 'user:17', capabilities: ['read', 'replay'] })
  t.not(boxAt(start).seal('acme', session), token, 'and no two tokens are the same')
})

t.test('every actor of 1 to 128 characters fits in a token of 512, with any capabilities, and comes out as it went in', async (t) => {
  const box = boxAt(start)
  const actors = fc.string({ unit: 'binary', minLength: 1, maxLength: 128, size: 'max' }).filter((text) => isPlainText(text, 128))
  fc.assert(fc.property(actors, fc.subarray([...capabilities]), (actor, granted) => {
    const sealed = box.seal('acme', { ...session, actor, capabilities: granted })
    const opened = box.open({ tenantSlug: 'acme', key: sealed })
    return sealed.length <= 512 && opened?.actor === actor && opened.capabilities.join() === granted.join()
  }), { numRuns: 1000 })
  for (const character of ['a', '\u{10ffff}', '😀', '\uffff', 'é', '\u0301']) {
    const actor = character.repeat(128)
    const sealed = box.seal('acme', { ...session, actor })
    t.ok(sealed.length <= 512, `${sealed.length} characters`)
    t.equal(box.open({ tenantSlug: 'acme', key: sealed })?.actor, actor)
  }
})

t.test('a token with one bit changed does not open, whichever it is', async (t) => {
  const bytes = Buffer.from(token.slice(4), 'base64url')
  const regions = { version: 0, nonce: 0, text: 0, tag: 0 }
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const index = bit >> 3
    const changed = Buffer.from(bytes)
    changed[index] = (bytes[index] ?? 0) ^ 1 << bit % 8
    if (openAt(start, `rps.${changed.toString('base64url')}`) !== null) t.fail(`bit ${bit}`)
    regions[index === 0 ? 'version' : index < 13 ? 'nonce' : index < bytes.length - 16 ? 'text' : 'tag']++
  }
  t.strictSame(regions, { version: 8, nonce: 96, text: (bytes.length - 29) * 8, tag: 128 })
  for (let bit = 0; bit < (token.length - 4) * 8; bit++) {
    const index = 4 + (bit >> 3)
    const changed = String.fromCharCode(token.charCodeAt(index) ^ 1 << bit % 8)
    if (openAt(start, token.slice(0, index) + changed + token.slice(index + 1)) !== null) t.fail(`bit ${bit % 8} of character ${index}`)
  }
})

t.test('a token with its bytes written differently does not open', async (t) => {
  // Some tokens have no character that the two alphabets write differently.
  let encoded = token.slice(4)
  while (!/[-_]/.test(encoded)) encoded = boxAt(start, [key]).seal('acme', session).slice(4)
  t.ok(openAt(start, `rps.${encoded}`))
  const inOtherAlphabet = Buffer.from(encoded, 'base64url').toString('base64')
  for (const text of [inOtherAlphabet, `${encoded}=`, `${encoded}==`, `${encoded}!`, `.${encoded}`, `${encoded}A`, `A${encoded}`]) {
    t.equal(openAt(start, `rps.${text}`), null, text)
  }
  for (let length = 4; length < token.length; length++) {
    if (openAt(start, token.slice(0, length)) !== null) t.fail(`the first ${length} characters`)
  }
})

t.test('a token is for its tenant alone', async (t) => {
  for (const tenantSlug of ['globex', 'ACME', 'acme ', 'acm', 'acmee', '']) t.equal(openAt(start, token, tenantSlug), null)
})

t.test('a token is valid from a minute before its date until its end', async (t) => {
  t.equal(openAt(start - minute - 1, token), null)
  t.ok(openAt(start - minute, token))
  t.ok(openAt(session.expiresAt - 1, token))
  t.equal(openAt(session.expiresAt, token), null)
})

t.test('the first key seals, and all of them open', async (t) => {
  const rotated = boxAt(start, [other, key])
  t.ok(rotated.open({ tenantSlug: 'acme', key: token }))
  t.equal(openAt(start, rotated.seal('acme', session)), null)
  t.ok(boxAt(start, [key, other]).open({ tenantSlug: 'acme', key: rotated.seal('acme', session) }))
  t.equal(boxAt(start, [other]).open({ tenantSlug: 'acme', key: token }), null)
})

t.test('every text that begins with rps. is a token, and nothing else', async (t) => {
  const { isToken } = boxAt(start)
  t.same(['rps.', 'rps.x', token].map(isToken), [true, true, true])
  t.same(['', 'rps', 'RPS.x', ' rps.x', 'rk_abc', 'xrps.x'].map(isToken), [false, false, false, false, false, false])
})
