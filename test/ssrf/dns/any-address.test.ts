import t from 'tap'
import fc from 'fast-check'
import { createAddressRule } from '../../../src/webhooks/ssrf/addresses.js'
import { formatAddress, isPublic } from '../../fixtures/hostile/hostile-addresses.js'

const isAllowed = createAddressRule([])

function agrees (family: 4 | 6, first: bigint, last: bigint): void {
  fc.assert(fc.property(fc.bigInt(first, last), (number) => {
    const address = formatAddress(number, family)
    return isAllowed(address) === isPublic(address)
  }), { numRuns: 5000 })
}

t.test('any IPv4 address is allowed if and only if it is public', async () => {
  agrees(4, 0n, (1n << 32n) - 1n)
  agrees(4, 192n << 24n, (199n << 24n) - 1n)
})

t.test('any IPv6 address is allowed if and only if it is public', async () => {
  agrees(6, 0n, (1n << 128n) - 1n)
  agrees(6, 0x2001n << 112n, (0x2003n << 112n) - 1n)
  agrees(6, 0x3fffn << 112n, (0x4000n << 112n) - 1n)
  agrees(6, 0n, (1n << 48n) - 1n)
})
