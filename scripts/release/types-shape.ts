import { resolve } from 'node:path'
import ts from 'typescript'
import { type Direction, type Shape, addPart } from './breaks.js'

const opposites = { given: 'read', read: 'given' } as const

/** A place in a package's types. */
interface Place {
  path: string
  parent: string | null
  isRequired: boolean
  direction: Direction | null
}

/** Reads the exports of an unpacked package's entry points, with all its types they use. */
export function readTypes (folder: string, entryPoints: Record<string, string>): Shape {
  const files = Object.entries(entryPoints).map(([name, file]) => [name, resolve(folder, file)] as const)
  const settings = { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2023, noLib: true, types: [] }
  const program = ts.createProgram(files.map(([, file]) => file), settings)
  const checker = program.getTypeChecker()
  const shape: Shape = new Map()
  const visited = new Set<string>()

  for (const [name, file] of files) {
    const source = program.getSourceFile(file)
    const module = source === undefined ? undefined : checker.getSymbolAtLocation(source)
    if (module === undefined) throw new Error(`${file} is missing, or exports nothing`)
    addPart(shape, name, { text: 'an entry point', choices: [], parent: null, isRequired: false }, null)
    for (const exported of checker.getExportsOfModule(module)) {
      const path = `${name} exports ${exported.name}`
      addPart(shape, path, { text: 'an export', choices: [], parent: name, isRequired: false }, null)
      visitSymbol(exported, null, path)
    }
  }
  for (const source of program.getSourceFiles().filter(isOwn)) {
    source.statements.filter(ts.isModuleDeclaration).forEach(visitAugmentation)
  }
  return shape

  function isOwn (node: ts.Node): boolean {
    return resolve(node.getSourceFile().fileName).startsWith(resolve(folder))
  }

  /** Additions to another package's types, such as `recruiting` on Fastify's instances. */
  function visitAugmentation ({ name, body }: ts.ModuleDeclaration): void {
    if (body === undefined || !ts.isModuleBlock(body)) return
    for (const node of body.statements.filter(ts.isInterfaceDeclaration)) {
      visitDeclaration(node, {
        path: `${node.name.text} of ${name.text}`,
        parent: null,
        isRequired: false,
        direction: 'read'
      })
    }
  }

  function visitSymbol (named: ts.Symbol, direction: Direction | null, parent: string | null = null): void {
    const symbol = named.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(named) : named
    const declarations = (symbol.declarations ?? []).filter(isOwn)
    const key = `${checker.getFullyQualifiedName(symbol)} ${direction}`
    if (visited.has(key)) return
    visited.add(key)
    declarations.forEach((node, index) => {
      const path = index === 0 || ts.isInterfaceDeclaration(node) ? symbol.name : `${symbol.name} #${index + 1}`
      visitDeclaration(node, {
        path,
        parent,
        isRequired: false,
        direction: isTypeAlone(node) ? direction : (direction ?? 'read')
      })
    })
  }

  function visitDeclaration (node: ts.Declaration, place: Place): void {
    if (ts.isInterfaceDeclaration(node) || ts.isClassDeclaration(node)) {
      add(place, typeParametersOf(node) + (node.heritageClauses ?? []).map(textOf).join(' '))
      visitReferences(node.heritageClauses ?? [], place.direction)
      visitMembers(node.members, place)
    } else if (ts.isFunctionDeclaration(node)) {
      visitSignature(node, place)
    } else if ((ts.isTypeAliasDeclaration(node) || ts.isVariableDeclaration(node)) && node.type !== undefined) {
      visitType(node.type, place)
    }
  }

  function visitMembers (members: ts.NodeArray<ts.TypeElement | ts.ClassElement>, { path, direction }: Place): void {
    for (const member of members) {
      const name = ts.isConstructorDeclaration(member) ? 'constructor' : textOf(member.name ?? member)
      const isRequired = !('questionToken' in member) || member.questionToken === undefined
      const place: Place = { path: `${path}.${name}`, parent: path, isRequired, direction }
      if (ts.isMethodSignature(member) || ts.isMethodDeclaration(member) || ts.isConstructorDeclaration(member)) {
        visitSignature(member, place)
      } else if ((ts.isPropertySignature(member) || ts.isPropertyDeclaration(member)) && member.type !== undefined) {
        visitType(member.type, place)
      } else {
        add(place, textOf(member))
        visitReferences([member], direction)
      }
    }
  }

  /** The caller of a function writes its parameters and reads its result. */
  function visitSignature (node: ts.SignatureDeclaration, place: Place): void {
    add(place, `a function${typeParametersOf(node)}`)
    const { path, direction } = place
    const other = direction === null ? null : opposites[direction]
    node.parameters.forEach((parameter, index) => {
      const isRequired = parameter.questionToken === undefined && parameter.dotDotDotToken === undefined
      // By position: callers do not use the name.
      if (parameter.type !== undefined) {
        visitType(parameter.type, { path: `${path}(${index + 1})`, parent: path, isRequired, direction: other })
      }
    })
    if (node.type !== undefined) visitType(node.type, { path: `${path}()`, parent: path, isRequired: false, direction })
  }

  function visitType (node: ts.TypeNode, place: Place): void {
    if (ts.isTypeLiteralNode(node)) {
      add(place, 'an object')
      visitMembers(node.members, place)
    } else if (ts.isFunctionTypeNode(node)) {
      visitSignature(node, place)
    } else {
      add(place, '', (ts.isUnionTypeNode(node) ? [...node.types] : [node]).map(textOf))
      visitReferences([node], place.direction)
    }
  }

  function visitReferences (nodes: readonly ts.Node[], direction: Direction | null): void {
    for (const node of nodes) {
      const symbol = ts.isIdentifier(node) ? checker.getSymbolAtLocation(node) : undefined
      if (symbol !== undefined && !(symbol.flags & ts.SymbolFlags.TypeParameter)) visitSymbol(symbol, direction)
      ts.forEachChild(node, (child) => visitReferences([child], direction))
    }
  }

  function add ({ path, parent, isRequired, direction }: Place, text: string, choices: string[] = []): void {
    addPart(shape, path, { text, choices, parent, isRequired }, direction)
  }
}

function isTypeAlone (node: ts.Declaration): boolean {
  return ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)
}

function textOf (node: ts.Node): string {
  return node.getText().replaceAll(/\/\*.*?\*\//gs, '').replaceAll(/\s+/g, ' ').trim()
}

function typeParametersOf (node: { typeParameters?: ts.NodeArray<ts.TypeParameterDeclaration> | undefined }): string {
  return node.typeParameters === undefined ? '' : `<${node.typeParameters.map(textOf).join(', ')}>`
}
