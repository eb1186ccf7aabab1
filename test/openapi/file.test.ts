import { readFile } from 'node:fs/promises'
import t from 'tap'
import { buildApp } from '../fixtures/api/app.js'

const root = new URL('../../', import.meta.url)

t.test('the file openapi.json is the document as it is served; npm run openapi writes it', async (t) => {
  const app = await buildApp(t)
  const file = await readFile(new URL('openapi.json', root), 'utf8')
  const { body } = await app.inject('/api/v1/public/openapi.json')
  t.equal(JSON.stringify(JSON.parse(file)), body)
})

t.test('the file is an entry point of the package and part of it', async (t) => {
  const { exports, files } = JSON.parse(await readFile(new URL('package.json', root), 'utf8'))
  t.equal(exports['./openapi.json'], './openapi.json')
  t.ok(files.includes('openapi.json'))
})
