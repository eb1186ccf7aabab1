import { fileURLToPath } from 'node:url'
import t from 'tap'
import ts from 'typescript'
import { defaultEvents } from '../../../src/index.js'
import { memoryStorage } from '../../../src/memory/index.js'
import { readDelivery } from '../../../src/webhooks/options/delivery.js'
import { readRecruitingOptions } from '../../../src/options/api.js'
import { readMcp } from '../../../src/mcp/options.js'
import { readOpenApi } from '../../../src/http/options/openapi.js'
import { readRateLimit } from '../../../src/http/options/rate-limit.js'

type Read = (options: object) => object

const storage = memoryStorage()
const readAll: Read = (options) => readRecruitingOptions({ storage, events: defaultEvents, ...options })
const read = (reader: (value: object, path: string) => object | null): Read => (options) => reader(options, 'options') ?? {}

/** The interfaces of options, and the function that reads them. */
const interfaces: Array<[path: string, name: string, read: Read]> = [
  ['src/webhooks/options/engine.ts', 'EngineOptions', readAll],
  ['src/options/recruiting.ts', 'SharedOptions', readAll],
  ['src/http/options/api.ts', 'HttpOptions', readAll],
  ['src/options/api.ts', 'ApiOptions', readAll],
  ['src/webhooks/options/delivery.ts', 'DeliveryOptions', read(readDelivery)],
  ['src/http/options/rate-limit.ts', 'RateLimitBudget', read(readRateLimit)],
  ['src/http/options/rate-limit.ts', 'RateLimitOptions', read(readRateLimit)],
  ['src/mcp/options.ts', 'McpOptions', read(readMcp)],
  ['src/http/options/openapi.ts', 'OpenApiOptions', read(readOpenApi)]
]

t.test('editors show the doc comment and the type of each option', async (t) => {
  const paths = interfaces.map(([path]) => fileURLToPath(new URL(`../../../${path}`, import.meta.url)))
  const program = ts.createProgram(paths, { strict: true, types: [], lib: ['lib.es5.d.ts'], module: ts.ModuleKind.NodeNext })
  const checker = program.getTypeChecker()
  for (const [index, [, name]] of interfaces.entries()) {
    const declaration = program.getSourceFile(paths[index] ?? '')?.statements.filter(ts.isInterfaceDeclaration).find((one) => one.name.text === name)
    const options = declaration === undefined ? [] : checker.getTypeAtLocation(declaration).getProperties()
    t.not(options.length, 0, name)
    for (const option of options) {
      t.not(option.getDocumentationComment(checker).length, 0, `${name}.${option.name}`)
      t.not(checker.typeToString(checker.getTypeOfSymbol(option)), 'unknown', `the type of ${name}.${option.name}`)
    }
  }
})
