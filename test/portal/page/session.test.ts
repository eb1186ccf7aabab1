import t from 'tap'
import { readSession } from '../../../src/portal/page/session/fragment.js'

const full = 'https://ats.example/portal/#token=rps.abc&tenant=acme&expires_at=2026-03-01T09%3A30%3A00.000Z&capabilities=read%2Cwrite%2Cfly' +
  '&locale=de-AT&mode=dark&accent_light=%23aa0000&accent_dark=%23ffaaaa&radius=4px&font=Inter%2C+sans-serif&return_url=https%3A%2F%2Fats.example%2Fsettings'

t.test('a session is read from the fragment of its URL', (t) => {
  t.strictSame(readSession(full), {
    token: 'rps.abc',
    tenantSlug: 'acme',
    expiresAt: Date.parse('2026-03-01T09:30:00.000Z'),
    capabilities: new Set(['read', 'write']),
    locale: 'de-AT',
    theme: { accent: { light: '#aa0000', dark: '#ffaaaa' }, radius: '4px', font: 'Inter, sans-serif', mode: 'dark' },
    returnUrl: 'https://ats.example/settings'
  })
  t.end()
})

t.test('a session needs a token, a tenant and a time; it may always read', (t) => {
  const expiresAt = '2026-03-01T09:30:00.000Z'
  t.strictSame(readSession(`#token=a&tenant=acme&expires_at=${expiresAt}`)?.capabilities, new Set(['read']))
  for (const fields of ['', `tenant=acme&expires_at=${expiresAt}`, `token=a&expires_at=${expiresAt}`, 'token=a&tenant=acme', 'token=a&tenant=acme&expires_at=soon', '/1/deliveries/2']) {
    t.equal(readSession(`#${fields}`), null, fields)
  }
  t.end()
})

t.test('a link cannot bring in a script, a colour that is none or a font with more in it', (t) => {
  const session = (rest: string) => readSession(`#token=a&tenant=acme&expires_at=2026-03-01T09:30:00.000Z&${rest}`)
  for (const url of ['javascript:alert(1)', 'data:text/html,x', '//other.example', '/\\other.example', '/\t/other.example', 'settings', '']) t.equal(session(new URLSearchParams({ return_url: url }).toString())?.returnUrl, null, url)
  for (const url of ['/', '/settings?tab=webhooks#list']) t.equal(session(new URLSearchParams({ return_url: url }).toString())?.returnUrl, url)
  for (const [name, value] of [['accent_light', 'red'], ['accent_dark', '#fff'], ['radius', 'calc(1px)'], ['font', 'x;y'], ['font', 'url(x)'], ['mode', 'pink']] as const) {
    t.strictSame(session(new URLSearchParams({ [name]: value }).toString())?.theme, {}, `${name} ${value}`)
  }
  t.strictSame(session('accent_dark=%23ffffff')?.theme, { accent: { dark: '#ffffff' } })
  t.end()
})
