import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { startHostileReceiver } from '../../fixtures/hostile/hostile-receiver.js'
import { startSender } from '../../fixtures/hostile/hostile-sender.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'
import { waitingCases } from '../../fixtures/hostile/hostile-waiting.js'

t.test('each of 1,100 endpoints of one host gets its own requests', async (t) => {
  const receiver = await startReceiver(t)
  const sender = await startSender(t)
  const paths = Array.from({ length: 1100 }, (_, number) => `/hooks/${number}?key=${number}`)
  for (const path of [...paths, ...paths.slice(0, 3)]) {
    const { responseStatus, error } = await sender.post(new URL(path, receiver.url).href)
    if (error !== null) t.fail(`${path}: ${error} ${responseStatus}`)
  }
  t.strictSame(receiver.requests.map(({ path }) => path), [...paths, ...paths.slice(0, 3)])
})

const timeoutMs = 500

t.test('an attempt ends at its deadline, at any step that the receiver delays', async (t) => {
  const { url: healthyUrl } = await startReceiver(t)
  const sender = await startSender(t, { timeoutMs })
  await sender.post(healthyUrl)
  let pending = Object.keys(waitingCases).length

  const attempts = Object.entries(waitingCases).map(async ([title, { behaviour, scheme, bodyLength = 8, ...expected }]) => {
    const { url } = await startHostileReceiver(t, behaviour)
    const target = scheme === undefined ? url : url.replace('http:', `${scheme}:`)
    const { durationMs, ranMs, ...outcome } = await sender.post(target, { body: JSON.stringify('b'.repeat(bodyLength)) })
    pending--
    t.same(outcome, expected, `a receiver that ${title}`)
    t.ok(durationMs >= timeoutMs - 1, `not before the deadline: ${durationMs} ms`)
    t.ok(ranMs < timeoutMs + 1000, `within a second of the deadline: ${ranMs} ms`)
  })

  let healthy = 0
  while (pending > 0) {
    const { error } = await sender.post(healthyUrl, { timeoutMs: 60_000 })
    t.equal(error, null, 'a healthy receiver beside them')
    healthy++
    await sleep(20)
  }
  await Promise.all(attempts)
  t.ok(healthy > 0, `${healthy} posts to a healthy receiver beside them`)
})
