import t from 'tap'
import { Refusal } from '../../../src/errors.js'
import { createAddressRule } from '../../../src/webhooks/ssrf/addresses.js'
import { type TargetRules, hostOf, parseTargetUrl } from '../../../src/webhooks/ssrf/destination.js'

const strict: TargetRules = { allowHttp: false, allowPrivateNames: false, isAllowedAddress: createAddressRule([]) }
const open: TargetRules = {
  allowHttp: true, allowPrivateNames: true, isAllowedAddress: createAddressRule(['127.0.0.0/8', '::1/128'])
}

/** Why an address is refused; `null` if it is not. */
function faultOf (text: string, rules = strict): string | null {
  try {
    parseTargetUrl(text, rules)
    return null
  } catch (error) {
    if (!(error instanceof Refusal) || error.field !== 'target_url') throw error
    return error.message
  }
}

t.test('an accepted URL is returned parsed', async (t) => {
  const url = parseTargetUrl('HTTPS://Example.COM:443/a/../b?c=é', strict)
  t.equal(url.href, 'https://example.com/b?c=%C3%A9')
})

t.test('an href is accepted again as it is', async (t) => {
  for (const text of ['https://example.com', 'https://bücher.example/ü', 'https://8.8.8.8', 'https://[2606:4700:0::1]/', 'https://example.com.:8443/x?y']) {
    const { href } = parseTargetUrl(text, strict)
    t.equal(parseTargetUrl(href, strict).href, href)
  }
})

t.test('the 20,000th address with letters of Latin-1 is accepted as the first one', async (t) => {
  const addresses = ['https://bücher.example/', 'https://x.example/é', 'https://ß.example/ÿ']
  let refused = 0
  for (let call = 0; call < 20_000; call++) {
    if (addresses.some((address) => faultOf(address) !== null)) refused++
  }
  t.equal(refused, 0)
})

t.test('the first fault of an address is reported', async (t) => {
  t.equal(faultOf('nonsense'), 'must be an absolute URL')
  t.equal(faultOf('http://ada@localhost:0/#x'), 'must be an https URL')
  t.equal(faultOf('https://ada@localhost:0/#x y'), 'must not contain white space or control characters')
  t.equal(faultOf('https://ada@localhost:0/#x'), 'must not contain a user name or password')
  t.equal(faultOf('https://localhost:0/#x'), 'must not contain a fragment')
  t.equal(faultOf('https://localhost:0/'), 'must not use port 0')
  t.equal(faultOf('https://localhost/'), 'must point to a public host')
})

t.test('an address with half a surrogate pair is refused', async (t) => {
  t.equal(faultOf('https://example.com/\ud83e'), 'must not contain white space or control characters')
})

t.test('length counts in the text and in what is made of it', async (t) => {
  const fill = (length: number) => `https://example.com/${'p'.repeat(length - 'https://example.com/'.length)}`
  t.equal(faultOf(fill(2048)), null)
  t.equal(faultOf(fill(2049)), 'must be at most 2048 characters')
  t.equal(faultOf(`https://example.com/${'ü'.repeat(400)}`), 'must be at most 2048 characters')
  t.equal(faultOf(`https://example.com/${'../'.repeat(1100)}`), 'must be at most 2048 characters')
})

t.test('names have labels of 1 to 63 and 253 characters in all', async (t) => {
  const name = (length: number) => `${'a.'.repeat(100)}${'b'.repeat(length - 200)}`
  t.equal(faultOf(`https://${name(253)}/`), null)
  t.equal(faultOf(`https://${name(254)}/`), 'must point to a public host')
  t.equal(faultOf(`https://${'l'.repeat(63)}.example/`), null)
  t.equal(faultOf(`https://${'l'.repeat(64)}.example/`), 'must point to a public host')
})

t.test('a host that has opened networks may use private names and http, and still no private address but its own', async (t) => {
  for (const text of ['http://localhost:3000/', 'https://intranet/', 'http://a.internal/', 'http://127.0.0.1/', 'http://[::1]/']) {
    t.equal(faultOf(text, open), null, text)
  }
  for (const text of ['http://10.0.0.1/', 'http://169.254.169.254/', 'http://a..internal/', 'http://-a/']) {
    t.equal(faultOf(text, open), 'must point to a public host', text)
  }
  t.equal(faultOf('ftp://localhost/', open), 'must be an https URL')
})

t.test('only the host and port of an address are shown', async (t) => {
  t.equal(hostOf('https://ada:secret@example.com:8443/path?token=1'), 'example.com:8443')
  t.equal(hostOf('nonsense'), '')
})
