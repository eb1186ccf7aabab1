// Writes openapi.json, the plugin's document with the default options and secretKeys, and from it
// src/around/client/api.ts, the schemas used by types.ts. With --check, fails instead if a file is outdated.

import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import Fastify from 'fastify'
import { recruitingApi } from '../src/index.js'
import { memoryKeyLookup, memoryStorage } from '../src/storages/memory/index.js'

interface Document {
  openapi: string
  info: object
  paths: Record<string, Record<string, { operationId: string, parameters?: Parameter[] }>>
  components: { schemas: Record<string, object> }
}

interface Parameter {
  name: string
  in: string
  description?: string
  schema: object
}

const app = Fastify()
await app.register(recruitingApi, {
  storage: memoryStorage(), keyLookup: memoryKeyLookup([]), secretKeys: [Buffer.alloc(32)], delivery: false
})
const document = (await app.inject('/api/v1/public/openapi.json')).json<Document>()
await app.close()
await save('openapi.json', `${JSON.stringify(document, null, 2)}\n`)
const types = await readFile(new URL('../src/around/client/types.ts', import.meta.url), 'utf8')
await save('src/around/client/api.ts', formatTypes(document, types))

async function save (path: string, text: string): Promise<void> {
  const file = new URL(`../${path}`, import.meta.url)
  if (!process.argv.includes('--check')) return await writeFile(file, text)
  if (await readFile(file, 'utf8') !== text) {
    console.error(`${path} is outdated: run npm run openapi`)
    process.exitCode = 1
  }
}

/** Returns the types of the schemas used by `source`, such as `Schemas['Job']` or, for a query, `listJobsQuery`. */
function formatTypes ({ openapi, info, paths, components }: Document, source: string): string {
  const all: Record<string, object> = { ...components.schemas }
  for (const { operationId, parameters = [] } of Object.values(paths).flatMap((path) => Object.values(path))) {
    const query = parameters.filter((parameter) => parameter.in === 'query')
    const properties = query.map(({ name, description, schema }) => {
      return [name, { description, ...schema, default: undefined }]
    })
    all[`${operationId}Query`] = { type: 'object', properties: Object.fromEntries(properties) }
  }
  const used = new Set<string>()
  const use = (name: string): void => {
    if (used.has(name)) return
    used.add(name)
    for (const [, other = ''] of JSON.stringify(all[name]).matchAll(/#\/components\/schemas\/(\w+)/g)) use(other)
  }
  for (const [, name = ''] of source.matchAll(/Schemas\['(\w+)'\]/g)) use(name)
  const schemas = Object.fromEntries(Object.entries(all).filter(([name]) => used.has(name)))
  const input = JSON.stringify({ openapi, info, paths: {}, components: { schemas } }, (key, value) => {
    // Examples would be most of the file. A schema can have a property with this name.
    const isProperty = value?.type !== undefined || value?.anyOf !== undefined
    return key === 'examples' || (key === 'example' && !isProperty) ? undefined : value
  })
  const program = fileURLToPath(new URL('../.ci/node_modules/.bin/openapi-typescript', import.meta.url))
  return execFileSync(program, { input, encoding: 'utf8' })
}
