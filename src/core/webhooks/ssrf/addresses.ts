import { isIP } from 'node:net'
import { createNetworkList, familyOf, parseCidr } from '../../shared/networks.js'
import { InputError } from '../../shared/errors.js'
import { parseUrl } from '../../shared/text.js'

/** Returns whether a connection to an IP address is allowed. */
export type AddressRule = (address: string) => boolean

// The IANA special-purpose registry of IPv4, multicast and reserved space, and Azure's public metadata address.
const specialIpv4 = [
  '0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24',
  '192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24', '192.168.0.0/16', '192.175.48.0/24',
  '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4', '168.63.129.16/32'
]

// All global unicast space that IANA has allocated. Everything else is blocked.
const globalIpv6 = '2000::/3'

// The parts of the IANA special-purpose registry of IPv6 that lie within global unicast.
const specialIpv6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20']

// Link-local space and cloud metadata services. A wider network in `allowNetworks` does not allow them.
const sensitiveIpv4 = ['169.254.0.0/16', '168.63.129.16/32', '100.100.100.200/32', '192.0.0.192/32']
const sensitiveIpv6 = [
  'fe80::/10',
  'fd00:ec2::/32',
  'fd20:ce::254/128',
  'fd00:c1::a9fe:a9fe/128',
  'fd00:42::42/128',
  'fd00:a9fe:a9fe::1/128',
  'fd00:100::100:200/128',
  // Teredo and 6to4 can reach any IPv4 address.
  '2001::/32',
  '2002::/16'
]

// IPv6 prefixes that embed an IPv4 address, which a translator may reach.
const translations = ['::', '::ffff:0:', '64:ff9b::', '64:ff9b:1::']

/**
 * Creates a rule that allows public addresses and those in `allowNetworks`. Sensitive addresses must be named exactly,
 * as a /32 or /128. Addresses in `denyNetworks` are never allowed.
 */
export function createAddressRule (
  allowNetworks: readonly string[], denyNetworks: readonly string[] = []
): AddressRule {
  const denied = createNetworkList([...denyNetworks, ...denyNetworks.filter(isIpv4Network).flatMap(translate)])
  const special = createNetworkList([...specialIpv4, ...specialIpv6])
  const global = createNetworkList([globalIpv6])
  const exact = createNetworkList(allowNetworks.filter(isSingleAddress))
  const allowed = createNetworkList(allowNetworks)
  const guarded = createNetworkList([...sensitiveIpv4, ...sensitiveIpv6, ...sensitiveIpv4.flatMap(translate)])
  return (address) => {
    // BlockList reports text that is not an address as not blocked.
    if (isIP(address) === 0) return false
    const type = familyOf(address)
    if (denied.check(address, type)) return false
    if (exact.check(address, type)) return true
    if (guarded.check(address, type)) return false
    if (allowed.check(address, type)) return true
    return (type === 'ipv4' || global.check(address, type)) && !special.check(address, type)
  }
}

function translate (cidr: string): string[] {
  const [address, prefix] = cidr.split('/')
  return translations.map((start) => `${start}${address}/${96 + Number(prefix)}`)
}

function isIpv4Network (cidr: string): boolean {
  return !cidr.includes(':')
}

function isSingleAddress (cidr: string): boolean {
  const network = parseCidr(cidr)
  return network !== null && network.prefix === (isIP(network.address) === 4 ? 32 : 128)
}

export interface TargetRules {
  allowHttp: boolean
  /** Whether names of private networks are allowed. */
  allowPrivateNames: boolean
  isAllowedAddress: AddressRule
}

const maxLength = 2048
const label = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/
const privateSuffix = /(^|\.)(localhost|local|internal)$/

/**
 * Parses a `target_url`; store and use the `href` of the result. Throws an `InputError` if it is not allowed. Does not
 * resolve names: every attempt checks the addresses of its name.
 */
export function parseTargetUrl (text: string, rules: TargetRules): URL {
  const url = parseUrl(text)
  if (url === null) throw new InputError('target_url', 'must be an absolute URL')
  const fault = faultOf(text, url, rules)
  if (fault !== null) throw new InputError('target_url', fault)
  return url
}

/** Returns the host and port of a URL, which are safe to log; '' for other text. */
export function hostOf (text: string): string {
  return parseUrl(text)?.host ?? ''
}

function faultOf (text: string, url: URL, rules: TargetRules): string | null {
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && rules.allowHttp)) return 'must be an https URL'
  if (!text.isWellFormed() || /[\p{Cc}\s]/u.test(text)) return 'must not contain white space or control characters'
  if (text.length > maxLength || url.href.length > maxLength) return `must be at most ${maxLength} characters`
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password'
  if (text.includes('#')) return 'must not contain a fragment'
  if (url.port === '0') return 'must not use port 0'
  return isAllowedHost(url.hostname, rules) ? null : 'must point to a public host'
}

// Checks the parsed host name, because the same address can be written in many ways.
function isAllowedHost (hostname: string, rules: TargetRules): boolean {
  const literal = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  if (isIP(literal) !== 0) return rules.isAllowedAddress(literal)
  const name = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname
  if (name.length > 253 || !name.split('.').every((part) => label.test(part))) return false
  return rules.allowPrivateNames || (name.includes('.') && !privateSuffix.test(name))
}
