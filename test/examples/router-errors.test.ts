import t from 'tap'
import { request } from './fixtures/request.js'
import { runExample } from './fixtures/run-example.js'

t.test('with the lines of the README even what the router refuses is in our form, and only below our prefix', async (t) => {
  const example = runExample(t, '08-router-errors.ts', { PORT: '0' })
  const [, origin = ''] = await example.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)

  for (const path of ['/api/v1/public/%zz/candidates', `/api/v1/public/${'a'.repeat(101)}/candidates`]) {
    const { status, body } = await request(origin + path)
    t.equal(status, 400)
    t.match(body, { error: { code: 'bad_request', message: 'Validation failed for request payload', request_id: /./ } })
    t.same(Object.keys(body as object), ['error'])
  }
  t.match((await request(`${origin}/%zz`)).body, { code: 'FST_ERR_BAD_URL' })
  t.equal(await example.end('SIGTERM'), 0)
})
