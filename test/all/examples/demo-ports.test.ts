import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import t, { type Test } from 'tap'
import { choosePort, isFree, readNumber } from '../../../examples/demo/ports.js'

/** Listens on a free port until the test ends, and returns it. */
async function takePort (t: Test, host?: string): Promise<number> {
  const taken = createServer()
  t.teardown(() => taken.close())
  await once(taken.listen({ port: 0, ...(host === undefined ? {} : { host }) }), 'listening')
  return (taken.address() as AddressInfo).port
}

/** Calls with `console.log` replaced, and returns the lines. */
async function capture (t: Test, call: () => Promise<unknown>): Promise<unknown[]> {
  const { log } = console
  const lines: unknown[] = []
  t.teardown(() => { console.log = log })
  console.log = (line: unknown) => { lines.push(line) }
  return [await call(), ...lines]
}

t.test('a port on which another program listens, on this address or on all, is not free', async (t) => {
  for (const host of ['127.0.0.1', undefined]) t.equal(await isFree(await takePort(t, host)), false)
})

t.test('a port that was closed is free, and stays free after the question', async (t) => {
  const taken = createServer()
  await once(taken.listen(0, '127.0.0.1'), 'listening')
  const { port } = taken.address() as AddressInfo
  await new Promise((resolve) => taken.close(resolve))
  t.strictSame([await isFree(port), await isFree(port)], [true, true])
  t.strictSame(await capture(t, () => choosePort({}, 'PORT', port)), [port])
})

t.test('any free port replaces one that is in use, and a line says so', async (t) => {
  const port = await takePort(t)
  t.strictSame(await capture(t, () => choosePort({}, 'PORT', port)), [
    0, `Port ${port} is in use. The demo uses a free port instead. To choose one, set PORT.`
  ])
})

t.test('a port of the environment is used as given', async (t) => {
  const port = await takePort(t)
  t.strictSame(await capture(t, () => choosePort({ PORT: String(port) }, 'PORT', 3000)), [port])
  await t.rejects(choosePort({ PORT: '' }, 'PORT', 3000), { message: 'PORT: expected a number, got ""' })
  t.equal(readNumber({}, 'EVERY_MS', 3000), 3000)
  t.throws(() => readNumber({ EVERY_MS: '1.5' }, 'EVERY_MS', 3000), { message: 'EVERY_MS: expected a number, got "1.5"' })
})
