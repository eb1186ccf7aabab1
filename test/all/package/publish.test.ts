import { execFile } from 'node:child_process'
import { cp, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import t, { type Test } from 'tap'
import { comparePackages } from '../../../scripts/release/packages.js'

const root = new URL('../../../', import.meta.url)

/** Runs the release check over the files of a checkout, and returns its errors. */
async function check (t: Test, files: Record<string, string>, env: Record<string, string> = {}): Promise<string> {
  const folder = t.testdir({ '.ci': {}, 'package.json': '{ "version": "1.2.3", "repository": { "url": "https://example.com/pets" } }', 'CHANGELOG.md': '## 1.2.3, 2027-01-31\n', ...files })
  await cp(new URL('.ci/check-publish', root), `${folder}/.ci/check-publish`)
  const settings = { env: { ...process.env, GITHUB_REF_TYPE: '', ...env } }
  return promisify(execFile)(`${folder}/.ci/check-publish`, settings).then(() => '', ({ stderr }) => stderr)
}

t.test(
  'the package contains the code, the pages and the examples, and the links between them work',
  async (t) => {
    const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], {
      cwd: root
    })
    const [{ files }] = JSON.parse(stdout) as [{ files: Array<{ path: string; size: number }> }]
    const others = files.map(({ path }) => path.replace(/^(dist|src\/storages\/postgres|examples|docs)\/.*/, '$1/'))
    t.strictSame([...new Set(others)].filter((path) => path !== 'dist/').sort(), [
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'docs/',
      'examples/',
      'openapi.json',
      'package.json',
      'src/storages/postgres/'
    ])
    const packed = new Set(files.map(({ path }) => path))
    for (const page of [...packed].filter((path) => path.endsWith('.md'))) {
      for (const [, link = ''] of (await readFile(new URL(page, root), 'utf8')).matchAll(/\]\(([^)\s#]+)/g)) {
        if (/^https?:|\.png$/.test(link)) continue
        const path = new URL(link, new URL(page, 'file:///')).pathname.slice(1)
        t.ok(packed.has(path), `${page} points to ${path}`)
      }
    }
    t.strictSame(
      files.filter(({ path, size }) => size > 500_000 || /package-lock|\.sqlite$|node_modules/.test(path)),
      []
    )
  }
)

t.test('a version is published only with its changelog heading, its tag and its repository', async (t) => {
  t.equal(await check(t, {}), '')
  t.equal(await check(t, {}, { GITHUB_REF_TYPE: 'tag', GITHUB_REF_NAME: 'v1.2.3' }), '')
  t.equal(await check(t, {}, { GITHUB_REF_TYPE: 'tag', GITHUB_REF_NAME: 'v1.2.4' }), 'the tag is v1.2.4, expected v1.2.3\n')
  for (const text of ['## Unreleased: 1.2.3\n', '## 1.2.4, 2027-01-31\n', '## 1x2.3, 2027-01-31\n']) {
    t.equal(await check(t, { 'CHANGELOG.md': text }), 'CHANGELOG.md has no heading: ## 1.2.3, YYYY-MM-DD\n')
  }
  t.equal(await check(t, { 'package.json': '{ "version": "1.2.3" }' }), 'package.json has no repository.url\n')
})

t.test('the bill of materials lists exactly the locked production dependencies', async (t) => {
  const { stdout } = await promisify(execFile)(fileURLToPath(new URL('.ci/make-sbom', root)))
  interface Component { name: string, version: string }
  const { metadata, components } = JSON.parse(stdout) as { metadata: { component: Component }, components: Component[] }
  const { packages } = JSON.parse(await readFile(new URL('package-lock.json', root), 'utf8')) as { packages: Record<string, { version: string, dev?: true, devOptional?: true }> }
  const installed = Object.entries(packages).filter(([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional)
  t.equal(metadata.component.name, 'fastify-recruiting-api')
  t.ok(installed.length > 10)
  t.strictSame(components.map(({ name, version }) => `${name}@${version}`).sort(), installed.map(([path, { version }]) => `${path.replace(/.*node_modules\//, '')}@${version}`).sort())
})

interface Job { permissions?: Record<string, string>, steps: Array<{ run?: string }> }

t.test('the job with access to npm runs after the checks, and runs none itself', async (t) => {
  const { jobs } = parse(await readFile(new URL('.github/workflows/publish.yml', root), 'utf8')) as { jobs: Record<string, Job & { needs?: string }> }
  const trusted = Object.entries(jobs).filter(([, { permissions }]) => permissions?.['id-token'] === 'write')
  t.match(trusted, [['npm', { needs: 'check' }]])
  t.equal(trusted.length, 1)
  t.match(jobs['check']?.steps.at(-1), { run: 'npm run prepublishOnly' })
  t.strictSame(jobs['npm']?.steps.flatMap(({ run }) => run?.startsWith('npm') ? [run] : []), [
    'npm ci --ignore-scripts', 'npm run build', 'npm publish --ignore-scripts --provenance --access public'
  ])
})

/** Returns the files of a made-up release. */
function release (types: string, document: object = {}, { version = '0.1.0', files = {} }: { version?: string, files?: Record<string, string> } = {}) {
  return {
    'package.json': JSON.stringify({ name: 'pets', type: 'module', version, exports: { '.': { types: './dist/index.d.ts' }, './openapi.json': './openapi.json' } }),
    'openapi.json': JSON.stringify(document),
    dist: { 'index.d.ts': types, ...files }
  }
}

async function compare (t: Test, before: object, after: object): Promise<string[]> {
  const folder = t.testdir({ before, after } as Parameters<Test['testdir']>[0])
  const { text } = await comparePackages(`${folder}/before`, `${folder}/after`)
  return text.split('\n').slice(0, -1)
}

const id = { type: 'integer' }
const pet = { type: 'object', required: ['id', 'status'], properties: { id, status: { enum: ['new'] }, owner: id } }
const sort = { name: 'sort', in: 'query', schema: { enum: ['id', 'name'] } }
const page = { name: 'page', in: 'query', schema: { $ref: '#/components/schemas/Page' } }
const json = (schema: object) => ({ content: { 'application/json': { schema } } })

/** An OpenAPI document with one path. */
function describePets (get: object, post: object, Pet: object) {
  return { paths: { '/pets': { get, post } }, components: { schemas: { Pet, Page: id } } }
}

t.test('the check lists each breaking change of the OpenAPI document', async (t) => {
  const found = json({ type: 'array', items: { $ref: '#/components/schemas/Pet' } })
  const bodyOf = (schema: object) => ({ requestBody: json({ type: 'object', ...schema }) })
  const before = describePets(
    { operationId: 'listPets', parameters: [sort, page], responses: { 200: found, 404: {} } },
    bodyOf({ properties: { name: { type: 'string', maxLength: 20 } } }),
    pet
  )
  const parameters = [{ ...sort, schema: { enum: ['id'] } }, { ...page, required: true }, { name: 'shop', in: 'query', required: true }]
  const after = describePets(
    { operationId: 'findPets', parameters, responses: { 200: found } },
    bodyOf({ required: ['name', 'kind'], properties: { name: { type: 'string', maxLength: 10 }, kind: id } }),
    { ...pet, required: ['id'], properties: { id: { type: ['integer', 'string'] }, status: { enum: ['new', 'lost'] } } }
  )
  const old = { ...before, paths: { ...before.paths, '/owners': { get: {} } } }
  t.strictSame(await compare(t, release('export {}', old), release('export {}', after)), [
    'openapi.json: GET /pets operationId: was "listPets", is "findPets"',
    'openapi.json: GET /pets query sort: was "id" | "name", is "id"',
    'openapi.json: GET /pets query page: was optional, is required',
    'openapi.json: Pet.id: was integer, is integer | string',
    'openapi.json: Pet.status: was always there, is optional',
    'openapi.json: Pet.owner: removed',
    'openapi.json: GET /pets 404: removed',
    'openapi.json: POST /pets body application/json.name: was string, maxLength 20, is string, maxLength 10',
    'openapi.json: GET /owners: removed',
    'openapi.json: GET /pets query shop: new and required',
    'openapi.json: POST /pets body application/json.kind: new and required'
  ])
})

t.test('the check lists each breaking change of exports, parameters, options and results', async (t) => {
  const before = `
    export interface Options { /** An option. */ name: string; size?: number; mode?: 'a' | 'b'; store: Store; onEnd?: (result: Result) => void }
    export interface Store { find(id: number): Promise<Row | null>; close?(): void }
    interface Row { id: number }
    export interface Result { id: number; state: 'new' | 'done'; at: Date; gone: true }
    export declare function start(options: Options, count?: number): Result
    export declare const limit: number
    export declare class Failure extends Error { code: string; constructor(code: string) }
    export { old } from '../../package/old.js'
    declare module 'fastify' { interface FastifyInstance { pets: Result } }`
  const after = `
    export interface Options { name: string; size: number; mode?: 'a'; store: Store; onEnd?: (result: Result) => void }
    export interface Store { find(id: string): Promise<Row | null>; close?(): void; open(): void }
    interface Row { id: string }
    export interface Result { id: number; state: 'new' | 'done' | 'late'; at?: Date; more: string }
    export declare function start(options: Options, count: number): Result
    export declare const limit: number | null
    export declare class Failure extends Error { code: string; constructor(code: string, text: string) }
    declare module 'fastify' { interface FastifyInstance { animals: Result } }`
  const old = release(before, {}, { files: { 'old.d.ts': 'export declare const old: 1' } })
  t.strictSame(await compare(t, old, release(after)), [
    'types: Options.size: was optional, is required',
    "types: Options.mode: was 'a' | 'b', is 'a'",
    'types: Store.find(1): was number, is string',
    'types: Row.id: was number, is string',
    'types: Result.at: was always there, is optional',
    'types: Result.gone: removed',
    'types: start(2): was optional, is required',
    'types: limit: was number, is number | null',
    'types: pets exports old: removed',
    'types: FastifyInstance of fastify.pets: removed',
    'types: Store.open: new and required',
    'types: Failure.constructor(2): new and required'
  ])
})

t.test('new optional options and parameters, and additional results, are not breaking', async (t) => {
  const before = 'export interface Options { a: string }\nexport declare function start(options: Options): { id: number }'
  const after = 'export interface Options { a?: string | null; b?: string }\nexport declare function start(options: Options, more?: string): { id: number, more: string }\nexport declare const next: 1'
  t.strictSame(await compare(t, release(before), release(after)), [])
})

t.test('the check fails unless the version allows the breaking changes, and no version can break the API', async (t) => {
  const run = async (version: string, document = {}): Promise<unknown> => {
    const folder = t.testdir({ before: release('export declare const a: 1', document), after: release('export {}', {}, { version }) })
    const argv = ['--import', 'tsx', 'scripts/check-breaks.ts', `${folder}/before`, `${folder}/after`]
    return promisify(execFile)(process.execPath, argv, { cwd: root }).then(({ stdout }) => stdout, ({ code, stdout }) => `${stdout}${code}`)
  }
  const line = 'types: pets exports a: removed\n'
  t.equal(await run('0.1.1'), `${line}0.1.1 breaks 1 part of 0.1.0: its version number does not allow that\n1`)
  t.equal(await run('0.2.0'), `${line}0.2.0 breaks 1 part of 0.1.0: each one needs an upgrade note\n`)
  t.equal(
    await run('1.0.0', { paths: { '/pets': { get: {} } } }),
    `${line}openapi.json: GET /pets: removed\n1.0.0 breaks 2 parts of 0.1.0: no version may break the API\n1`
  )
})
