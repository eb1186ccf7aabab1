import t from 'tap'
import { startSender } from '../fixtures/hostile/hostile-sender.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'

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
