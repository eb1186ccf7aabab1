import t from 'tap'
import { memoryStorage } from '../../src/memory/index.js'
import { buildApp } from '../fixtures/api/app.js'
import { type OpenApi, createDocumentAjv } from '../fixtures/api/document.js'

const url = '/api/v1/public/openapi.json'
const base = '/api/v1/public/{tenant_slug}'
const list = `${base}/candidates`
const uuid = /^[\da-f]{8}-([\da-f]{4}-){3}[\da-f]{12}$/

t.test('the document shows text ids as strings, in items, paths, filters and examples', async (t) => {
  const ids = { candidate: 'string', job: 'string', source: 'string', recruiter: 'string' } as const
  const document = (await (await buildApp(t, { ids, storage: memoryStorage({ ids }) })).inject(url)).json<OpenApi>()
  const { paths, components: { schemas } } = document
  t.match(schemas, {
    Candidate: { properties: { id: { type: 'string', examples: [uuid] }, source_id: { type: ['string', 'null'], description: 'The source they came from', examples: [uuid] } } },
    Job: { properties: { id: { type: 'string', examples: [uuid] } } },
    Webhook: { properties: { id: { type: 'integer' } } }
  })
  for (const resource of ['candidate', 'job']) {
    const { parameters = [], responses } = paths[`${base}/${resource}s/{id}`]?.get ?? {}
    t.match(parameters[1], {
      name: 'id', description: `The id of the ${resource}`, schema: { type: 'string', pattern: '^[!-.0-~]{1,64}$' }, example: uuid
    })
    const content = responses?.['200']?.content?.['application/json']
    t.match(content?.example, { data: { id: uuid } })
    const refs = JSON.parse(JSON.stringify(content?.schema).replaceAll('"#/', '"document#/'))
    t.ok(createDocumentAjv(document).validate(refs, content?.example))
  }
  const filter = paths[list]?.get?.parameters.find(({ name }) => name === 'filter[recruiter_id]')
  t.match(filter, { description: 'Only candidates of this recruiter', schema: { type: 'string', pattern: '^[!-.0-~]{1,64}$', examples: [uuid] } })
})

t.test('the document shows each kind by itself', async (t) => {
  const ids = { source: 'string' } as const
  const document = (await (await buildApp(t, { ids, storage: memoryStorage({ ids }) })).inject(url)).json<OpenApi>()
  t.match(document.components.schemas, { Candidate: { properties: { id: { type: 'integer' }, source_id: { type: ['string', 'null'] } } } })
  t.match(document.paths[list]?.get?.parameters.find(({ name }) => name === 'filter[recruiter_id]'), { schema: { type: 'integer', minimum: 1 } })
})
