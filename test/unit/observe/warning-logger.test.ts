import t from 'tap'
import { createWarningLogger } from '../../../src/observe/logger.js'

t.test('without a logger, lines that only inform are no process warnings', async (t) => {
  const warned: string[] = []
  const listen = ({ message }: Error): void => { warned.push(message) }
  process.on('warning', listen)
  t.teardown(() => process.off('warning', listen))
  const logger = createWarningLogger({ now: () => 0 })
  logger.info({}, 'all is well')
  logger.warn({}, 'something is not')
  await new Promise(setImmediate)
  t.same(warned, ['something is not'])
})
