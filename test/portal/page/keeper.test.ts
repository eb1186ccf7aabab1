import t from 'tap'
import type { Session } from '../../../src/portal/page/session/fragment.js'
import { createKeeper } from '../../../src/portal/page/session/keeper.js'

function session (token: string, expiresAt: number, tenantSlug = 'acme'): Session {
  return { token, tenantSlug, expiresAt, capabilities: new Set(['read']), locale: null, theme: {}, returnUrl: null }
}

/** A keeper with a clock that tests move. */
function start ({ first, mayAsk = true }: { first: Session | null, mayAsk?: boolean }) {
  let time = 0
  let timer: { at: number, callback: () => void } | null = null
  const asked: number[] = []
  const states: string[] = []
  const keeper = createKeeper({
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
  keeper.watch(() => states.push(keeper.state()))
  const goTo = (until: number) => {
    while (timer !== null && timer.at <= until) {
      const { at, callback }: { at: number, callback: () => void } = timer
      timer = null
      time = at
      callback()
    }
    time = until
  }
  return { keeper, asked, states, goTo }
}

t.test('another session is asked for a minute before the end, and taken without a break', (t) => {
  const first = session('one', 900_000)
  const { keeper, asked, states, goTo } = start({ first })
  goTo(839_999)
  t.strictSame(asked, [])
  goTo(840_000)
  t.strictSame([asked, states], [[840_000], ['renewing']])
  const second = session('two', 1_800_000)
  keeper.accept(second)
  t.equal(keeper.session(), second)
  goTo(1_740_000)
  t.strictSame([asked, states], [[840_000, 1_740_000], ['renewing', 'active', 'renewing']])
  t.end()
})

t.test('sessions that are short, or look expired to a clock that is ahead, are renewed every half minute', (t) => {
  for (const lifetimeMs of [60_000, -900_000]) {
    const { keeper, asked, goTo } = start({ first: session('one', lifetimeMs) })
    goTo(30_000)
    keeper.accept(session('two', 30_000 + lifetimeMs))
    goTo(59_999)
    t.strictSame([asked, keeper.state()], [[30_000], 'active'])
    goTo(60_000)
    t.strictSame(asked, [30_000, 60_000])
  }
  t.end()
})

t.test('a session that nobody renews has ended at its end, not before', (t) => {
  for (const mayAsk of [true, false]) {
    const { keeper, goTo } = start({ first: session('one', 900_000), mayAsk })
    goTo(899_999)
    t.not(keeper.state(), 'ended')
    goTo(900_000)
    t.equal(keeper.state(), 'ended')
    t.equal(keeper.session()?.token, 'one')
  }
  t.end()
})

t.test('without a session one is asked for', (t) => {
  const asking = start({ first: null })
  t.strictSame([asking.asked, asking.keeper.state()], [[0], 'renewing'])
  asking.goTo(15_000)
  t.equal(asking.keeper.state(), 'none')
  asking.keeper.accept(session('late', 900_000))
  t.equal(asking.keeper.state(), 'active')
  t.equal(start({ first: null, mayAsk: false }).keeper.state(), 'none')
  t.end()
})

t.test('those who got 401 wait for the next session, for which is asked once', async (t) => {
  const first = session('one', 900_000)
  const { keeper, asked, states, goTo } = start({ first })
  const waiting = [keeper.replaced(first), keeper.replaced(first)]
  t.strictSame([asked, states], [[0], ['renewing']])
  goTo(15_000)
  t.equal(keeper.state(), 'ended', 'it was refused, so its end does not matter')
  const second = session('two', 900_000)
  keeper.accept(second)
  t.strictSame(await Promise.all(waiting), [second, second])
  t.equal(await keeper.replaced(first), second, 'at once if there is another one already')
  t.equal(asked.length, 1)
})

t.test('what one tenant began is not sent with the session of another', async (t) => {
  const first = session('one', 900_000)
  const { keeper } = start({ first })
  const waiting = keeper.replaced(first)
  keeper.accept(session('two', 900_000, 'globex'))
  t.equal(await waiting, null)
})

t.test('who stopped watching is not called', (t) => {
  const { keeper } = start({ first: session('one', 900_000) })
  let calls = 0
  const stop = keeper.watch(() => calls++)
  stop()
  keeper.accept(session('two', 900_000))
  t.equal(calls, 0)
  t.end()
})
