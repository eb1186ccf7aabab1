import t from 'tap'
import { buildApp, keys } from '../../fixtures/api/app.js'
import { checkError, comparable } from '../../fixtures/api/answers.js'
import { sendRaw } from '../../fixtures/receivers/raw-http.js'

function request (...lines: string[]): string {
  return ['GET /api/v1/public/acme/candidates HTTP/1.1', 'Host: localhost', 'Connection: close', ...lines, '', ''].join('\r\n')
}

const good = `Authorization: Bearer ${keys.full}`

const refused: Record<string, string[]> = {
  'the same header twice': [good, good],
  'the good key first': [good, 'Authorization: Bearer unknown'],
  'the good key last': ['Authorization: Bearer unknown', good],
  'another scheme after the good key': [good, 'Authorization: Basic YTpi'],
  'an empty one after the good key': [good, 'Authorization:'],
  'an empty one before the good key': ['Authorization:', good],
  'names in another case': [good, `AUTHORIZATION: Bearer ${keys.full}`, `authorization: Bearer ${keys.full}`],
  'the second one far from the first': [good, 'Accept: */*', 'X-Forwarded-For: ::1', good]
}

t.test('two Authorization headers get the same 401 as none', async (t) => {
  const app = await buildApp(t)
  const [missing] = await sendRaw(app, request())
  t.ok(missing)
  for (const [what, lines] of Object.entries(refused)) {
    const [answer] = await sendRaw(app, request(...lines))
    if (answer === undefined || missing === undefined) return t.fail(`${what} gets an answer`)
    checkError(t, answer, 401, what)
    t.equal(comparable(answer), comparable(missing), `${what} is answered like none`)
  }
})

t.test('one Authorization header is accepted in any letter case of its name', async (t) => {
  const app = await buildApp(t)
  for (const name of ['Authorization', 'authorization', 'AUTHORIZATION', 'aUtHoRiZaTiOn']) {
    const [answer] = await sendRaw(app, request(`${name}: Bearer ${keys.full}`))
    t.equal(answer?.statusCode, 200, name)
  }
})

t.test('a value that is named like the header is no second header', async (t) => {
  const app = await buildApp(t)
  const [answer] = await sendRaw(app, request(good, 'Vary: authorization', 'Access-Control-Request-Headers: authorization'))
  t.equal(answer?.statusCode, 200)
})

t.test('white space around the value is not part of it', async (t) => {
  const app = await buildApp(t)
  const [answer] = await sendRaw(app, request(`Authorization:  \tBearer ${keys.full}\t `))
  t.equal(answer?.statusCode, 200)
})
