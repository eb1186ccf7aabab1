import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { createSessionManager, readSession, type Session } from '../../../src/around/portal/page/session.js'
import { languages } from '../../../src/around/portal/pages.js'

const full = 'https://ats.example/portal/#token=rps.abc&tenant=acme&expires_at=2026-03-01T09%3A30%3A00.000Z&capabilities=read%2Cwrite%2Cfly' +
  '&locale=de-AT&mode=dark&accent_light=%23aa0000&accent_dark=%23ffaaaa&radius=4px&font=Inter%2C+sans-serif&return_url=https%3A%2F%2Fats.example%2Fsettings'

t.test('a session is read from the fragment of its URL', async (t) => {
  t.strictSame(readSession(full, ['https://ats.example']), {
    token: 'rps.abc',
    tenantSlug: 'acme',
    expiresAt: Date.parse('2026-03-01T09:30:00.000Z'),
    capabilities: new Set(['read', 'write']),
    locale: 'de-AT',
    theme: { accent: { light: '#aa0000', dark: '#ffaaaa' }, radius: '4px', font: 'Inter, sans-serif', mode: 'dark' },
    returnUrl: 'https://ats.example/settings'
  })
})

t.test('a session needs a token, a tenant and an expiry, and can always read', async (t) => {
  const expiresAt = '2026-03-01T09:30:00.000Z'
  t.strictSame(readSession(`#token=a&tenant=acme&expires_at=${expiresAt}`, [])?.capabilities, new Set(['read']))
  for (const fields of ['', `tenant=acme&expires_at=${expiresAt}`, `token=a&expires_at=${expiresAt}`, 'token=a&tenant=acme', 'token=a&tenant=acme&expires_at=soon', '/1/deliveries/2']) {
    t.equal(readSession(`#${fields}`, []), null, fields)
  }
})

t.test("a link cannot inject a script, another site's URL or CSS", async (t) => {
  const session = (rest: string) => readSession(`#token=a&tenant=acme&expires_at=2026-03-01T09:30:00.000Z&${rest}`, ['https://ats.example'])
  for (const url of ['javascript:alert(1)', 'data:text/html,x', '//other.example', '/\\other.example', '/\t/other.example', 'settings', '', 'https://other.example/', 'https://ats.example.other.example/', 'https://ats.example@other.example/', 'http://ats.example/']) t.equal(session(new URLSearchParams({ return_url: url }).toString())?.returnUrl, null, url)
  for (const url of ['/', '/settings?tab=webhooks#list', 'https://ats.example/settings']) t.equal(session(new URLSearchParams({ return_url: url }).toString())?.returnUrl, url)
  for (const [name, value] of [['accent_light', 'red'], ['accent_dark', '#fff'], ['radius', 'calc(1px)'], ['font', 'x;y'], ['font', 'url(x)'], ['mode', 'pink']] as const) {
    t.strictSame(session(new URLSearchParams({ [name]: value }).toString())?.theme, {}, `${name} ${value}`)
  }
  t.strictSame(session('accent_dark=%23ffffff')?.theme, { accent: { dark: '#ffffff' } })
})

function session (token: string, expiresAt: number, tenantSlug = 'acme', returnUrl: string | null = null): Session {
  return { token, tenantSlug, expiresAt, capabilities: new Set(['read']), locale: null, theme: {}, returnUrl }
}

/** Creates a session manager with a manual clock. */
function start ({ first, mayAsk = true }: { first: Session | null, mayAsk?: boolean }) {
  let time = 0
  let timer: { at: number, callback: () => void } | null = null
  const asked: number[] = []
  const states: string[] = []
  const sessions = createSessionManager({
    first,
    ask: () => {
      asked.push(time)
      return mayAsk
    },
    now: () => time,
    later (callback, delayMs) {
      const own = timer = { at: time + delayMs, callback }
      return () => { if (timer === own) timer = null }
    }
  })
  sessions.watch(() => states.push(sessions.state()))
  const goTo = (until: number) => {
    while (timer !== null && timer.at <= until) {
      const { at, callback }: { at: number, callback: () => void } = timer
      timer = null
      time = at
      callback()
    }
    time = until
  }
  return { sessions, asked, states, goTo }
}

t.test('a session is renewed a minute before it expires, without interruption', async (t) => {
  const first = session('one', 900_000)
  const { sessions, asked, states, goTo } = start({ first })
  goTo(839_999)
  t.strictSame(asked, [])
  goTo(840_000)
  t.strictSame([asked, states], [[840_000], ['renewing']])
  const second = session('two', 1_800_000)
  sessions.accept(second)
  t.equal(sessions.current(), second)
  goTo(1_740_000)
  t.strictSame([asked, states], [[840_000, 1_740_000], ['renewing', 'active', 'renewing']])
})

t.test('short sessions, and sessions that look expired to a fast clock, are renewed every 30 seconds', async (t) => {
  for (const lifetimeMs of [60_000, -900_000]) {
    const { sessions, asked, goTo } = start({ first: session('one', lifetimeMs) })
    goTo(30_000)
    sessions.accept(session('two', 30_000 + lifetimeMs))
    goTo(59_999)
    t.strictSame([asked, sessions.state()], [[30_000], 'active'])
    goTo(60_000)
    t.strictSame(asked, [30_000, 60_000])
  }
})

t.test('a session without a renewal ends exactly at its expiry', async (t) => {
  for (const mayAsk of [true, false]) {
    const { sessions, goTo } = start({ first: session('one', 900_000), mayAsk })
    goTo(899_999)
    t.not(sessions.state(), 'ended')
    goTo(900_000)
    t.equal(sessions.state(), 'ended')
    t.equal(sessions.current()?.token, 'one')
  }
})

t.test('without a session, the page asks for one', async (t) => {
  const asking = start({ first: null })
  t.strictSame([asking.asked, asking.sessions.state()], [[0], 'renewing'])
  asking.goTo(4_999)
  t.equal(asking.sessions.state(), 'renewing')
  asking.goTo(5_000)
  t.equal(asking.sessions.state(), 'none')
  asking.sessions.accept(session('late', 900_000))
  t.equal(asking.sessions.state(), 'active')
  t.equal(start({ first: null, mayAsk: false }).sessions.state(), 'none')
})

t.test('requests that got 401 wait for the next session, which is requested once', async (t) => {
  const first = session('one', 900_000)
  const { sessions, asked, states, goTo } = start({ first })
  const waiting = [sessions.replaced(first), sessions.replaced(first)]
  t.strictSame([asked, states], [[0], ['renewing']])
  goTo(5_000)
  t.equal(sessions.state(), 'ended', 'the API rejected it, so its expiry does not matter')
  const second = session('two', 900_000)
  sessions.accept(second)
  t.strictSame(await Promise.all(waiting), [second, second])
  t.equal(await sessions.replaced(first), second, 'immediately if there already is a newer one')
  t.equal(asked.length, 1)
})

t.test("a tenant's request is not retried with another tenant's session", async (t) => {
  const first = session('one', 900_000)
  const { sessions } = start({ first })
  const waiting = sessions.replaced(first)
  sessions.accept(session('two', 900_000, 'globex'))
  t.equal(await waiting, null)
})

t.test('the return URL belongs to the last session that the API accepted', async (t) => {
  const first = session('one', 900_000, 'acme', '/settings')
  const { sessions, states } = start({ first })
  t.equal(sessions.returnUrl(), null)
  for (let count = 0; count < 2; count++) sessions.confirm(first)
  t.strictSame([sessions.returnUrl(), states], ['/settings', ['active']])
  sessions.accept(session('two', 900_000, 'acme', '/elsewhere'))
  sessions.confirm(first)
  t.equal(sessions.returnUrl(), '/settings', 'until the API accepts the new one')
})

t.test('the page can ask for a session again', async (t) => {
  t.equal(start({ first: null, mayAsk: false }).sessions.canAsk(), false)
  const { sessions, asked, states, goTo } = start({ first: null })
  t.equal(sessions.canAsk(), true)
  goTo(5_000)
  sessions.askAgain()
  t.strictSame([asked, states], [[0, 5_000], ['none', 'renewing']])
  goTo(10_000)
  t.equal(sessions.state(), 'none')
})

t.test('a closed session manager has no session and asks for none', async (t) => {
  const first = session('one', 900_000, 'acme', '/settings')
  const { sessions, asked, goTo } = start({ first })
  sessions.confirm(first)
  sessions.offer(session('two', 900_000, 'globex'))
  sessions.close()
  t.strictSame([sessions.current(), sessions.offered(), sessions.returnUrl()], [null, null, null])
  goTo(3_600_000)
  t.strictSame(asked, [])
})

t.test('script and style together take at most 40 KB gzipped', async (t) => {
  const files = await Promise.all(['portal.js', 'portal.css'].map((name) => readFile(new URL(`../../../dist/portal/${name}`, import.meta.url))))
  const size = files.reduce((total, file) => total + gzipSync(file).length, 0)
  t.ok(size > 10_000 && size <= 40 * 1024, `${size} bytes`)
})

t.test('the texts of each language take at most 8 KB gzipped', async (t) => {
  for (const [locale, messages] of Object.entries(languages)) {
    const size = gzipSync(JSON.stringify(messages)).length
    t.ok(size > 2_000 && size <= 8 * 1024, `${locale}: ${size} bytes`)
  }
})
