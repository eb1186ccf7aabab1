import { isIP } from 'node:net'
import { Refusal } from '../../errors.js'
import { parseUrl } from '../../shared/text.js'
import type { AddressRule } from './addresses.js'

/** The rules for target URLs. */
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
 * Parses a `target_url`; store and use the `href` of the result. Throws a `Refusal` of the field if it is not allowed.
 * Does not resolve names: every attempt checks the addresses of its name.
 */
export function parseTargetUrl (text: string, rules: TargetRules): URL {
  const url = parseUrl(text)
  if (url === null) throw new Refusal('target_url', 'must be an absolute URL')
  const fault = faultOf(text, url, rules)
  if (fault !== null) throw new Refusal('target_url', fault)
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
