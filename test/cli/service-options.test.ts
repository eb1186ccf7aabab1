import t from 'tap'
import { createCli } from '../fixtures/cli/cli.js'
import { startListening } from '../fixtures/cli/listening.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'

const cli = createCli(undefined)
const url = 'http://127.0.0.1:1/api/acme'
const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
const expectedUrl = 'expected a URL such as https://ats.example.com/api/v1/public/acme'

t.test('wrong usage is one line that names the argument, without a secret', async (t) => {
  for (const [argv, message] of [
    [['listen'], 'listen: --url: missing, add --url URL or set RECRUITING_URL'],
    [['listen', '--url', url], 'listen: --key: missing, set RECRUITING_API_KEY or add --key-file FILE'],
    [['listen', '--url', url, '--key', 'geheim', '--key-file', 'x'], 'listen: --key-file: cannot be combined with --key'],
    [['listen', '--url', url, '--key', 'geheim geheim'], 'listen: --key: expected an API key'],
    [['listen', '--url', url, '--forward', 'localhost:4000'], 'listen: --forward: must be an https URL'],
    [['listen', '--url', url, '--forward', 'nowhere'], 'listen: --forward: must be an absolute URL'],
    [['listen', '--url', url, '--secret', 'geheim'], 'listen: --secret: expected whsec_ and 24 to 64 bytes in base64'],
    [['listen', '--url', url, '--every', '0'], 'listen: --every: expected an integer from 1 to 3600, got "0"'],
    [['trigger', '--url', url], 'trigger: TYPE: missing, usage: fastify-recruiting-api trigger TYPE --url URL [OPTIONS]'],
    [['trigger', 'a.b', '--url', url], 'trigger: --webhook, --forward: add one of them'],
    [['trigger', 'a.b', '--url', url, '--webhook', '1', '--forward', 'http://localhost/'], 'trigger: --webhook, --forward: add one of them'],
    [['trigger', 'a.b', '--url', url, '--webhook', 'x'], 'trigger: --webhook: expected an integer, got "x"'],
    [['trigger', 'a.b', '--url', url, '--forward', 'http://localhost/'], 'trigger: --secret: missing, add the secret of your receiver or set RECRUITING_WEBHOOK_SECRET']
  ] as const) t.strictSame(await cli(argv), { code: 2, out: '', err: `${message}\n` })
})

t.test('a URL that is none, or has no tenant, is refused without being shown', async (t) => {
  for (const text of ['acme', 'ftp://host/acme', 'https://ats.example.com', 'https://ats.example.com/', 'https://me:geheim@host/acme', 'https://host/acme?x=1', 'https://host/%zz', 'https://host:x/acme']) {
    t.strictSame(await cli(['listen', '--url', text, '--key', 'rk_1']), { code: 2, out: '', err: `listen: --url: ${expectedUrl}\n` }, text)
  }
  t.strictSame(await cli('listen --key rk_1', { env: { RECRUITING_URL: 'x' } }), { code: 2, out: '', err: `listen: RECRUITING_URL: ${expectedUrl}\n` })
})

t.test('key, URL and secret can come from the environment, and the key from a file', async (t) => {
  const service = await startReceiver(t)
  service.answer(404)
  const address = `http://127.0.0.1:${service.port}/api/a%C3%A9`
  await startListening(t, ['listen'], { RECRUITING_URL: address, RECRUITING_API_KEY: 'rk_1\n', RECRUITING_WEBHOOK_SECRET: secret }).idle()
  await startListening(t, ['listen', '--url', address, '--key-file', `${t.testdir({ key: 'rk_2\n' })}/key`]).idle()
  t.match(service.requests, [
    { path: /^\/api\/a%C3%A9\/events\?/, headers: { authorization: 'Bearer rk_1' } },
    { path: /^\/api\/a%C3%A9\/events\?/, headers: { authorization: 'Bearer rk_2' } }
  ])
})
