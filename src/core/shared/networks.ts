import { BlockList, isIP } from 'node:net'

/** Parses a CIDR such as `10.0.0.0/8`. Returns `null` for other text. */
export function parseCidr (text: string): { address: string, prefix: number } | null {
  const [address = '', digits = '', ...rest] = text.split('/')
  const family = isIP(address)
  const prefix = /^\d{1,3}$/.test(digits) ? Number(digits) : Number.NaN
  const isValid = rest.length === 0 && family !== 0 && prefix <= (family === 4 ? 32 : 128) && !address.includes('%')
  return isValid ? { address, prefix } : null
}

/** Returns whether one CIDR contains another; `false` for different IP versions. */
export function containsNetwork (outer: string, inner: string): boolean {
  const [whole, part] = [parseCidr(outer), parseCidr(inner)]
  if (whole === null || part === null || whole.prefix > part.prefix) return false
  const family = familyOf(part.address)
  return familyOf(whole.address) === family && createNetworkList([outer]).check(part.address, family)
}

/** Creates a list of networks. IPv4 addresses written as IPv6 (`::ffff:10.0.0.1`) match IPv4 networks. */
export function createNetworkList (cidrs: readonly string[]): BlockList {
  const list = new BlockList()
  for (const cidr of cidrs) {
    const network = parseCidr(cidr)
    if (network === null) throw new TypeError(`not a CIDR: ${cidr}`)
    list.addSubnet(network.address, network.prefix, familyOf(network.address))
  }
  return list
}

export function familyOf (address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6'
}
