import { randomBytes } from 'node:crypto'
import t from 'tap'
import { apiScopes } from '../../src/index.js'
import { en } from '../../src/around/portal/messages.js'
import { readPortal } from '../../src/around/portal/options.js'
import { assertAccepted, assertRejected, assertRejectedByPlugin } from '../fixtures/rejected-option.js'

const secretKeys = [randomBytes(32)]

t.test('portal must be an object with secretKeys, and no message shows a key', async (t) => {
  const anObject = 'an object such as { secretKeys }'
  for (const [portal, shown] of [['text of a key', '"text"'], [true, 'true'], [null, 'null'], [[], 'an array']] as const) {
    await assertRejected(t, [{ portal }, 'portal', anObject, shown])
  }
  const path = 'portal.secretKeys'
  await assertRejectedByPlugin(t, [{ portal: {} }, path, 'an array of at least one Buffer of 32 bytes', 'undefined'])
  await assertRejected(t, [{ portal: { secretKeys: [] } }, path, 'an array of at least one Buffer of 32 bytes', '"an empty array"'])
  await assertRejected(t, [{ portal: { secretKeys: 'text of a key' } }, path, 'an array of Buffers', '"string"'])
  await assertRejected(t, [{ portal: { secretKeys: [...secretKeys, 'text of a key'] } }, `${path}[1]`, 'a Buffer of 32 bytes', '"string"'])
  await assertRejected(t, [{ portal: { secretKeys: [Buffer.alloc(16)] } }, `${path}[0]`, 'a Buffer of 32 bytes', '"16 bytes"'])
  await assertRejected(t, [{ portal: { secretKeys, secretkey: 'text of a key' } }, 'portal.secretkey', 'a known name such as secretKeys', '"secretkey"'])
  await assertAccepted(t, { portal: { secretKeys: [...secretKeys, new Uint8Array(32)] } })
})

t.test('missing options get their defaults', async (t) => {
  t.equal(readPortal(undefined, 'portal'), null)
  t.strictSame(readPortal({ secretKeys }, 'portal'), {
    secretKeys,
    frameAncestors: [],
    returnOrigins: [],
    baseUrl: '',
    theme: {},
    keys: { scopes: apiScopes, maxKeys: 50, maxDays: 365 },
    messages: {}
  })
})

t.test('portal.frameAncestors must be exact origins', async (t) => {
  const path = 'portal.frameAncestors'
  await assertRejected(t, [{ portal: { secretKeys, frameAncestors: 'https://ats.example' } }, path, 'an array of origins', '"https://ats.example"'])
  const wrong = [
    '', '*', 'https:', 'https://', 'ats.example', 'https://ats.example/', 'https://ats.example/path', 'https://*.example', 'https://ats.example:443', 'HTTPS://ats.example',
    'https://ATS.example', 'http://ats.example', 'http://127.0.0.2', 'http://localhost.example', 'ws://ats.example', 'https://user@ats.example', 'SELF', "'none'", 'null', 'data:',
    'https://a;script-src', 'https://a,b', "https://a'b", 'https://ats.example https://other.example', 'https://ats.example;', ' https://ats.example', 'https://ats.example\n'
  ]
  for (const origin of wrong) {
    const portal = { secretKeys, frameAncestors: ['self', origin] }
    await assertRejected(t, [{ portal }, `${path}[1]`, "an origin such as https://ats.example, or 'self'", JSON.stringify(origin)])
  }
  await assertRejected(t, [{ portal: { secretKeys, frameAncestors: [7] } }, `${path}[0]`, "an origin such as https://ats.example, or 'self'", '7'])
  const good = ['self', 'https://ats.example', 'https://ats.example:8443', 'http://localhost:3000', 'http://127.0.0.1', 'http://localhost', 'https://xn--bcher-kva.example']
  t.same(readPortal({ secretKeys, frameAncestors: good }, 'portal')?.frameAncestors, ["'self'", ...good.slice(1)])
  t.same(readPortal({ secretKeys, frameAncestors: ["'self'"] }, 'portal')?.frameAncestors, ["'self'"], 'spelled as in CSP')
})

t.test('portal.returnOrigins must be exact origins, without self', async (t) => {
  const path = 'portal.returnOrigins'
  await assertRejected(t, [{ portal: { secretKeys, returnOrigins: 'https://ats.example' } }, path, 'an array of origins', '"https://ats.example"'])
  for (const origin of ['self', 'http://ats.example', 'javascript:alert(1)']) {
    const portal = { secretKeys, returnOrigins: ['https://ats.example', origin] }
    await assertRejected(t, [{ portal }, `${path}[1]`, 'an origin such as https://ats.example', JSON.stringify(origin)])
  }
  const good = ['https://ats.example', 'https://ats.example:8443', 'http://localhost:3000']
  t.same(readPortal({ secretKeys, returnOrigins: good }, 'portal')?.returnOrigins, good)
})

t.test('portal.baseUrl is checked like publicUrl', async (t) => {
  const expected = 'a URL such as https://api.example.com, without query and fragment'
  await assertRejected(t, [{ portal: { secretKeys, baseUrl: '/portal' } }, 'portal.baseUrl', expected, '"/portal"'])
  for (const baseUrl of ['https://ats.example/hr', '']) await assertAccepted(t, { portal: { secretKeys, baseUrl } })
})

t.test('portal.theme.accent must have a contrast of 4.5:1, and the error shows the actual one', async (t) => {
  const path = 'portal.theme.accent'
  const onLight = 'a colour with a contrast of at least 4.5:1 on #ffffff'
  const onDark = 'a colour with a contrast of at least 4.5:1 on #16181d'
  const rejected: Array<[accent: unknown, field: string, expected: string, shown: string]> = [
    ['#777777', '', onLight, '"#777777 with 4.47:1"'],
    ['#FFFFFF', '', onLight, '"#FFFFFF with 1:1"'],
    [{ light: '#8ab4f8', dark: '#8ab4f8' }, '.light', onLight, '"#8ab4f8 with 2.1:1"'],
    [{ light: '#0b57d0', dark: '#0b57d0' }, '.dark', onDark, '"#0b57d0 with 2.78:1"'],
    ['blue', '', 'a colour such as #0b57d0', '"blue"'],
    ['#00f', '', 'a colour such as #0b57d0', '"#00f"'],
    ['#0b57d0;', '', 'a colour such as #0b57d0', '"#0b57d0;"'],
    [{ light: '#0b57d0' }, '.dark', 'a colour such as #0b57d0', 'undefined'],
    [7, '', 'a colour such as #0b57d0, or { light, dark }', '7'],
    [null, '', 'a colour such as #0b57d0, or { light, dark }', 'null']
  ]
  for (const [accent, field, expected, shown] of rejected) {
    await assertRejected(t, [{ portal: { secretKeys, theme: { accent } } }, `${path}${field}`, expected, shown])
  }
  const accentOf = (accent: string | { light: string, dark: string }): unknown => readPortal({ secretKeys, theme: { accent } }, 'portal')?.theme.accent
  t.strictSame(accentOf({ light: '#767676', dark: '#8AB4F8' }), { light: '#767676', dark: '#8ab4f8' })
})

t.test('a single accent is for light mode, and dark mode gets a tint with enough contrast', async (t) => {
  const accents: Record<string, string> = { '#0b57d0': '#4881dc', '#000000': '#828282', '#b3261e': '#c8635d', '#767676': '#818181' }
  for (const [light, dark] of Object.entries(accents)) {
    t.strictSame(readPortal({ secretKeys, theme: { accent: light } }, 'portal')?.theme.accent, { light, dark })
  }
})

t.test('portal.theme accepts a radius, a font and a mode', async (t) => {
  const path = 'portal.theme'
  for (const radius of [-1, 24.1, Number.NaN, Infinity, '8', '8px', null]) {
    const shown = typeof radius === 'string' ? JSON.stringify(radius) : String(radius)
    await assertRejected(t, [{ portal: { secretKeys, theme: { radius } } }, `${path}.radius`, 'a number from 0 to 24', shown])
  }
  for (const font of ['', 'a;b', 'Inter}', 'url(x)', '"Inter', "'Inter\"", 'a,', ',a', 'a, , b', '<b>', 'expression(1)', 'x'.repeat(201), '\\41', 7]) {
    const shown = typeof font === 'string' ? JSON.stringify(font) : '7'
    await assertRejected(t, [{ portal: { secretKeys, theme: { font } } }, `${path}.font`, 'a list of typefaces such as Inter, "Segoe UI", sans-serif', shown])
  }
  await assertRejected(t, [{ portal: { secretKeys, theme: { mode: 'auto' } } }, `${path}.mode`, "'light' or 'dark' or 'system'", '"auto"'])
  await assertRejected(t, [{ portal: { secretKeys, theme: { color: '#000000' } } }, `${path}.color`, 'a known name such as font', '"color"'])
  await assertRejected(t, [{ portal: { secretKeys, theme: 'dark' } }, path, 'an object', '"dark"'])
  for (const font of ['Inter', '-apple-system, BlinkMacSystemFont,"Segoe UI", Roboto , sans-serif', "'IBM Plex Sans'", 'Times New Roman', 'system-ui']) {
    await assertAccepted(t, { portal: { secretKeys, theme: { font } } })
  }
  t.strictSame(readPortal({ secretKeys, theme: { radius: 0.5, mode: 'system' } }, 'portal')?.theme, { radius: '0.5px', mode: 'system' })
})

t.test('portal.messages must be complete, and plural texts need other', async (t) => {
  const path = 'portal.messages'
  await assertRejected(t, [{ portal: { secretKeys, messages: [] } }, path, 'an object of messages by locale', 'an array'])
  await assertRejected(t, [{ portal: { secretKeys, messages: { 'no locale': en } } }, `${path}.no locale`, 'a language such as de or en-GB', '"no locale"'])
  await assertRejected(t, [{ portal: { secretKeys, messages: { fr: {} } } }, `${path}.fr.shell`, 'an object', 'undefined'])
  await assertRejected(t, [{ portal: { secretKeys, messages: { fr: { ...en, shell: { ...en.shell, title: 7 } } } } }, `${path}.fr.shell.title`, 'text', '7'])
  await assertRejected(t, [{ portal: { secretKeys, messages: { fr: { ...en, shel: {} } } } }, `${path}.fr.shel`, 'a known name such as shell', '"shel"'])
  await assertRejected(t, [{ portal: { secretKeys, messages: { 'de-at': en, 'de-AT': en } } }, path, 'each locale once', '"de-AT, de-AT"'])
  t.strictSame(readPortal({ secretKeys, messages: { 'de-at': en } }, 'portal')?.messages, { 'de-AT': en })
  const plural = (events: object) =>
    ({ secretKeys, messages: { ar: { ...en, endpoints: { ...en.endpoints, events } } } })
  const events = `${path}.ar.endpoints.events`
  await assertRejected(t, [{ portal: plural({ one: 'one' }) }, `${events}.other`, 'text', 'undefined'])
  await assertRejected(t, [{ portal: plural({ other: 'other', all: 'all' }) }, `${events}.all`, 'a known name such as one', '"all"'])
  await assertAccepted(t, { portal: plural({ few: 'few', many: 'many', other: 'other' }) })
})
