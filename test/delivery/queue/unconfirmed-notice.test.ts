import t from 'tap'
import { createMachines, event } from '../../fixtures/delivery/engine.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'

t.test('a notice that cannot be confirmed is reported again, and others are reported and confirmed at once', async (t) => {
  const receiver = await startReceiver(t)
  receiver.answer(410)
  const { addWebhook, clock, start, storage: { deliveries } } = createMachines(t)
  const [first, ...others] = [await addWebhook(receiver.url), await addWebhook(receiver.url), await addWebhook(receiver.url)]
  const { claimNotices, confirmNotice } = deliveries
  deliveries.claimNotices = async () => []
  const lines: Array<[fields: object, message: string]> = []
  const engine = start({ logger: { info () {}, warn () {}, error: (fields, message) => { lines.push([fields, message]) } } })
  const reported: number[] = []
  engine.on('webhookDisabled', ({ webhookId }) => { reported.push(webhookId) })
  await engine.emit(event)
  await engine.drain()

  let stuck: number | undefined
  deliveries.claimNotices = async (options) => {
    const claimed = await claimNotices(options)
    stuck ??= claimed.find(({ notice }) => notice.webhookId === first)?.noticeId
    return claimed
  }
  deliveries.confirmNotice = async (id) => {
    if (id === stuck) throw new Error('the row is locked')
    return confirmNotice(id)
  }
  await clock.advance(30_000)
  t.same(reported.toSorted(), [first, ...others])
  t.match(lines, [[{ err: { message: 'the row is locked' }, webhook_id: first }, 'could not confirm a notice of a failing webhook, will report it again']])
  await clock.advance(60_000)
  t.same(reported.slice(3), [first])
})
