import { fileURLToPath } from 'node:url'
import t from 'tap'
import ts from 'typescript'
import { optionInterfaces } from '../../fixtures/option-interfaces.js'

t.test('editors show the doc comment and the type of each option', async (t) => {
  const path = fileURLToPath(new URL('../../../src/options/options.ts', import.meta.url))
  const program = ts.createProgram([path], {
    strict: true, types: [], lib: ['lib.es5.d.ts'], module: ts.ModuleKind.NodeNext
  })
  const checker = program.getTypeChecker()
  for (const [name] of optionInterfaces) {
    const declaration = program.getSourceFile(path)?.statements.filter(ts.isInterfaceDeclaration)
      .find((one) => one.name.text === name)
    const options = declaration === undefined ? [] : checker.getTypeAtLocation(declaration).getProperties()
    t.not(options.length, 0, name)
    for (const option of options) {
      t.not(option.getDocumentationComment(checker).length, 0, `${name}.${option.name}`)
      t.not(checker.typeToString(checker.getTypeOfSymbol(option)), 'unknown', `the type of ${name}.${option.name}`)
    }
  }
})
