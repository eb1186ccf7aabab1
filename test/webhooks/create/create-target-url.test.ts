import t from 'tap'
import { buildWebhookApi, refusal, webhookInput } from '../../fixtures/api/webhook-api.js'

const { call, create } = await buildWebhookApi(t)

const longest = `https://example.com/${'p'.repeat(2048 - 'https://example.com/'.length)}`

const stored: Array<[title: string, given: string, href: string]> = [
  ['an address', 'https://example.com/hooks?tenant=acme', 'https://example.com/hooks?tenant=acme'],
  ['an address without a path', 'https://example.com', 'https://example.com/'],
  ['an address in capitals', 'HTTPS://EXAMPLE.COM/Hooks', 'https://example.com/Hooks'],
  ['an address with the default port', 'https://example.com:443/', 'https://example.com/'],
  ['an address with a port', 'https://example.com:8443/', 'https://example.com:8443/'],
  ['an address with dots in its path', 'https://example.com/a/../b/./c', 'https://example.com/b/c'],
  ['an address with letters beyond ASCII', 'https://bücher.example.com/ü?q=é', 'https://xn--bcher-kva.example.com/%C3%BC?q=%C3%A9'],
  ['an address with an underscore in its host', 'https://my_hooks.example.com/', 'https://my_hooks.example.com/'],
  ['an address with a full stop after its host', 'https://example.com./', 'https://example.com./'],
  ['a public IPv4 address', 'https://8.8.8.8/', 'https://8.8.8.8/'],
  ['a public IPv6 address', 'https://[2606:4700:0:0::1111]/', 'https://[2606:4700::1111]/'],
  ['an address of 2048 characters', longest, longest]
]

for (const [title, given, href] of stored) {
  t.test(`${title} is stored as its href`, async (t) => {
    const { id, target_url: target } = await create({ target_url: given })
    t.equal(target, href)
    const { body } = await call<{ data: { target_url: string } }>('GET', `/webhooks/${id}`)
    t.equal(body.data.target_url, href)
  })
}

const refused: Array<[title: string, target: unknown, message: string]> = [
  ['an http address', 'http://example.com/', 'must be an https URL'],
  ['an ftp address', 'ftp://example.com/', 'must be an https URL'],
  ['a file address', 'file:///etc/passwd', 'must be an https URL'],
  ['a script', 'javascript:alert(1)', 'must be an https URL'],
  ['a path', '/hooks', 'must be an absolute URL'],
  ['an address without a scheme', '//example.com/hooks', 'must be an absolute URL'],
  ['an address without a host', 'https://', 'must be an absolute URL'],
  ['an empty address', '', 'must be an absolute URL'],
  ['an address with a user name', 'https://ada@example.com/', 'must not contain a user name or password'],
  ['an address with a password', 'https://:secret@example.com/', 'must not contain a user name or password'],
  ['an address with a fragment', 'https://example.com/#top', 'must not contain a fragment'],
  ['an address with an empty fragment', 'https://example.com/#', 'must not contain a fragment'],
  ['an address with port 0', 'https://example.com:0/', 'must not use port 0'],
  ['an address with port 65536', 'https://example.com:65536/', 'must be an absolute URL'],
  ['an address of 2049 characters', `${longest}p`, 'must NOT have more than 2048 characters'],
  ['an address whose href is longer than 2048', `https://example.com/${'é'.repeat(400)}`, 'must be at most 2048 characters'],
  ['an address after a space', ' https://example.com/', 'must not contain white space or control characters'],
  ['an address with a space within', 'https://example.com/a b', 'must not contain white space or control characters'],
  ['an address with a line break', 'https://example.com/a\nb', 'must not contain white space or control characters'],
  ['an address with a tab in its host', 'https://exam\tple.com/', 'must not contain white space or control characters'],
  ['an address with a control character', 'https://example.com/\u0001', 'must not contain white space or control characters'],
  ['an address that is null', null, 'must be string'],
  ['an address that is an object', { href: 'https://example.com/' }, 'must be string'],
  ['an address that is missing', undefined, 'is required']
]

for (const [title, target, message] of refused) {
  t.test(`${title} is refused`, async (t) => {
    const answer = await call('POST', '/webhooks', { ...webhookInput, target_url: target })
    t.equal(answer.status, 400)
    t.strictSame(answer.body, refusal(answer, { field: 'target_url', message }))
  })
}
