import { fileURLToPath } from 'node:url'
import t from 'tap'
import ts from 'typescript'
import { defaultEvents } from '../../../src/index.js'
import { memoryStorage } from '../../../src/memory/index.js'
import {
  readDelivery, readRecruitingOptions, readMcp, readOpenApi, readRateLimit
} from '../../../src/options/options.js'

type Read = (options: object) => object

const storage = memoryStorage()
const readAll: Read = (options) => readRecruitingOptions({ storage, events: defaultEvents, ...options })
const read = (reader: (value: object, path: string) => object | null): Read => (options) => reader(options, 'options') ?? {}

/** The interfaces of options, and the function that reads them. */
const interfaces: Array<[name: string, read: Read]> = [
  ['EngineOptions', readAll],
  ['SharedOptions', readAll],
  ['HttpOptions', readAll],
  ['ApiOptions', readAll],
  ['DeliveryOptions', read(readDelivery)],
  ['RateLimitBudget', read(readRateLimit)],
  ['RateLimitOptions', read(readRateLimit)],
  ['McpOptions', read(readMcp)],
  ['OpenApiOptions', read(readOpenApi)]
]

t.test('editors show the doc comment and the type of each option', async (t) => {
  const path = fileURLToPath(new URL('../../../src/options/options.ts', import.meta.url))
  const program = ts.createProgram([path], {
    strict: true,
    types: [],
    lib: ['lib.es5.d.ts'],
    module: ts.ModuleKind.NodeNext
  })
  const checker = program.getTypeChecker()
  for (const [name] of interfaces) {
    const declaration = program
      .getSourceFile(path)
      ?.statements.filter(ts.isInterfaceDeclaration)
      .find((one) => one.name.text === name)
    const options = declaration === undefined ? [] : checker.getTypeAtLocation(declaration).getProperties()
    t.not(options.length, 0, name)
    for (const option of options) {
      t.not(option.getDocumentationComment(checker).length, 0, `${name}.${option.name}`)
      t.not(checker.typeToString(checker.getTypeOfSymbol(option)), 'unknown', `the type of ${name}.${option.name}`)
    }
  }
})
