import { mock } from 'node:test'
import t from 'tap'
import { withProgress } from '../../src/cli/terminal.js'

t.test('progress', async (t) => {
  let now = 0
  t.beforeEach(() => {
    now = 0
    mock.timers.enable({ apis: ['setInterval'] })
    mock.method(performance, 'now', () => now)
  })
  t.afterEach(() => {
    mock.timers.reset()
    mock.restoreAll()
  })

  function pass (ms: number): void {
    now += ms
    mock.timers.tick(250)
  }

  t.test('is shown on a terminal once a task has taken a second, and removed at its end', async (t) => {
    let shown = ''
    const result = await withProgress({ showsProgress: true, err: (text) => { shown += text } }, 'pruning', async (report) => {
      pass(999)
      t.equal(shown, '')
      pass(1)
      t.equal(shown, '\r\u001b[Kpruning: 1 s')
      report('5000 rows')
      pass(2000)
      t.equal(shown, '\r\u001b[Kpruning: 1 s\r\u001b[Kpruning: 5000 rows, 3 s')
      return 5
    })
    t.equal(result, 5)
    t.ok(shown.endsWith('3 s\r\u001b[K'))
    pass(5000)
    t.ok(shown.endsWith('3 s\r\u001b[K'), 'the timer is gone')
  })

  t.test('is not shown for a short task, nor where nobody sees it', async (t) => {
    for (const showsProgress of [true, false]) {
      let shown = ''
      await t.rejects(withProgress({ showsProgress, err: (text) => { shown += text } }, 'pruning', async () => {
        pass(showsProgress ? 500 : 60_000)
        throw new Error('failed')
      }), { message: 'failed' })
      t.equal(shown, '')
    }
  })
})
