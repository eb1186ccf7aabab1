import t from 'tap'
import { randomBytes } from 'node:crypto'
import { createSecretBox } from '../../src/webhooks/secrets.js'

const [one, two] = [randomBytes(32), randomBytes(32)]
const secret = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='
const unknown = { message: /^none of the secretKeys opens the secret of webhook 7: add the key that sealed it/ }

t.test('a box opens the secrets that it has sealed', async (t) => {
  const box = createSecretBox([one])
  const sealed = box.seal(secret, 'acme', 7)
  t.match(sealed, /^sealed_v1:[A-Za-z0-9+/]+=*$/)
  t.notOk(Buffer.from(sealed.slice('sealed_v1:'.length), 'base64').toString().includes('whsec_'))
  t.equal(box.open(sealed, 'acme', 7), secret)
})

t.test('the same secret never seals to the same text', async (t) => {
  const box = createSecretBox([one])
  t.equal(new Set(Array.from({ length: 10 }, () => box.seal(secret, 'acme', 7))).size, 10)
})

t.test('the first key seals and all of them open', async (t) => {
  const sealedByOne = createSecretBox([one]).seal(secret, 'acme', 7)
  const both = createSecretBox([two, one])
  t.equal(both.open(sealedByOne, 'acme', 7), secret)
  const sealedByBoth = both.seal(secret, 'acme', 7)
  t.equal(createSecretBox([two]).open(sealedByBoth, 'acme', 7), secret)
  t.throws(() => createSecretBox([one]).open(sealedByBoth, 'acme', 7), unknown)
  t.throws(() => createSecretBox([]).open(sealedByBoth, 'acme', 7), unknown)
})

t.test('a sealed secret opens only for its own tenant and webhook', async (t) => {
  const box = createSecretBox([one])
  const sealed = box.seal(secret, 'acme', 7)
  t.throws(() => box.open(sealed, 'globex', 7), unknown)
  t.throws(() => box.open(sealed, 'acme', 8))
  t.throws(() => box.open(box.seal(secret, 'acme","x', 7), 'acme', 7), unknown)
})

t.test('a text that was changed or cut does not open', async (t) => {
  const box = createSecretBox([one])
  const bytes = Buffer.from(box.seal(secret, 'acme', 7).slice('sealed_v1:'.length), 'base64')
  for (let index = 0; index < bytes.length; index++) {
    const changed = Buffer.from(bytes)
    changed[index] = (changed[index] ?? 0) ^ 1
    t.throws(() => box.open(`sealed_v1:${changed.toString('base64')}`, 'acme', 7), unknown)
    t.throws(() => box.open(`sealed_v1:${bytes.subarray(0, index).toString('base64')}`, 'acme', 7), unknown)
  }
})

t.test('without keys a secret stays as it is, and with keys an open one still opens', async (t) => {
  const box = createSecretBox([])
  t.equal(box.seal(secret, 'acme', 7), secret)
  t.equal(box.open(secret, 'acme', 7), secret)
  t.equal(createSecretBox([one]).open(secret, 'acme', 7), secret)
})

t.test('current is what is sealed with the first key, or open if there is none', async (t) => {
  const sealed = createSecretBox([one]).seal(secret, 'acme', 7)
  t.ok(createSecretBox([one, two]).isCurrent(sealed, 'acme', 7))
  t.notOk(createSecretBox([two, one]).isCurrent(sealed, 'acme', 7))
  t.notOk(createSecretBox([one]).isCurrent(sealed, 'globex', 7))
  t.notOk(createSecretBox([one]).isCurrent(secret, 'acme', 7))
  t.ok(createSecretBox([]).isCurrent(secret, 'acme', 7))
  t.notOk(createSecretBox([]).isCurrent(sealed, 'acme', 7))
})
