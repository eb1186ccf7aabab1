import { randomUUID } from 'node:crypto'
import http from 'node:http'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { FastifyServerOptions } from 'fastify'
import { checkError } from '../fixtures/api/answers.js'
import { bearer, keys } from '../fixtures/api/app.js'
import { base, buildLimited, checkLimited } from '../fixtures/api/limits.js'

const one = { failedKeys: { max: 1 } }

for (const [title, address, same, other] of [
  ['an IPv6 address counts as its /64', '2001:db8::1', ['2001:db8::ffff', '2001:DB8:0:0:1:2:3:4', '2001:db8:0:0:ffff::'], '2001:db8:0:1::1'],
  ['zeros within a /64 are kept', '2001:0:0:1::1', ['2001::1:0:0:0:5', '2001:0:0:1:2:3:4:5'], '2001:0:0:2::1'],
  ['the loopback of IPv6 is one address', '::1', ['::2'], '1::1'],
  ['a zone does not matter', 'fe80::1%eth0', ['fe80::2', 'fe80::3%eth1'], 'fe81::1'],
  ['an IPv4 address within IPv6 counts as itself', '::ffff:192.0.2.1', ['192.0.2.1', '::FFFF:192.0.2.1'], '::ffff:192.0.2.2'],
  ['a port does not matter', '192.0.2.1:5', ['192.0.2.1', '192.0.2.1:6'], '192.0.2.2:5'],
  ['a port after an IPv6 address does not matter', '[2001:db8::1]:5', ['2001:db8::1', '[2001:db8::1]'], '[2001:db8:0:1::1]:5'],
  ['everything that is not an address counts as one', 'unknown', ['x'.repeat(1000), '1.2.3', '256.1.1.1', '::ffff:1.2.3', 'a:b'], '1.2.3.4']
] as const) {
  t.test(title, async (t) => {
    const { ask } = await buildLimited(t, one, { server: { trustProxy: true } })
    const from = (address: string) => ask('guess', '/jobs', address)
    checkError(t, await from(address), 401)
    for (const spelling of same) checkLimited(t, await from(spelling), 1)
    checkError(t, await from(other), 401)
  })
}

/** A host on a Unix socket, whose requests have no address. */
async function listenOnSocket (t: Test, server: FastifyServerOptions): Promise<(key: string, headers?: object) => Promise<number | undefined>> {
  const { app } = await buildLimited(t, one, { server })
  const socketPath = join(tmpdir(), `${randomUUID()}.sock`)
  t.teardown(() => rm(socketPath, { force: true }))
  await app.listen({ path: socketPath })
  return (key, headers = {}) => new Promise((resolve, reject) => {
    const path = `${base}/jobs`
    http.get({ socketPath, path, headers: { ...bearer(key), ...headers }, agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode))
    }).on('error', reject)
  })
}

t.test('on a Unix socket a valid key is let in, and all invalid ones are counted together', async (t) => {
  const ask = await listenOnSocket(t, {})
  t.equal(await ask(keys.full), 200)
  t.same([await ask('guess'), await ask('guess'), await ask(keys.full)], [401, 429, 200])
})

t.test('on a Unix socket with trustProxy the forwarding header is the address', async (t) => {
  const ask = await listenOnSocket(t, { trustProxy: true })
  t.equal(await ask(keys.full), 200)
  t.same([await ask('guess'), await ask('guess')], [401, 429])
  t.same([await ask('guess', { 'x-forwarded-for': '192.0.2.1' }), await ask('guess', { 'x-forwarded-for': '192.0.2.1' })], [401, 429])
})
