import { readFile } from 'node:fs/promises'
import ts from 'typescript'

/** A member of an interface, union or constant object. */
export interface Member {
  name: string
  /** The doc comment in one line, without `@default` and `@example`. */
  text: string
  /** The `@default` of the doc comment, such as `50`; `null` without one. */
  defaultText: string | null
  /** Whether the member is optional. All readers of options are. */
  isOptional: boolean
}

const root = new URL('../../', import.meta.url)

/**
 * Reads the members of an interface, a union of strings or a constant object in order, with their doc comments.
 * `interface DeliveryOptions extends OptionsOf<typeof deliveryOptions>` has the members of `deliveryOptions`.
 */
export async function readMembers (path: string, name: string): Promise<Member[]> {
  const source = ts.createSourceFile(path, await readFile(new URL(path, root), 'utf8'), ts.ScriptTarget.Latest)
  return listMembers(source, name)
}

function listMembers (source: ts.SourceFile, name: string): Member[] {
  const members = source.statements
    .map((statement) => findMembers(statement, name))
    .find((found) => found !== undefined)
  if (members === undefined) throw new Error(`${source.fileName} has no interface, union or constant object ${name}`)
  const inherited = readersOf(source, name).flatMap((readers) => listMembers(source, readers))
  return [...inherited, ...members.map((member, index) => {
    // In a union the comment precedes the bar, so the parser does not attach it to the member.
    const before = source.text.slice(members[index - 1]?.end ?? members.pos, member.getStart(source))
    const memberName = nameOf(member, source)
    if (!before.includes('/**')) throw new Error(`${source.fileName}: ${memberName} of ${name} has no doc comment`)
    return { name: memberName, isOptional: isOptional(member), ...parseComment(before) }
  })]
}

/** Returns the names of the constant objects in an interface's `OptionsOf`. */
function readersOf (source: ts.SourceFile, name: string): string[] {
  const declaration = source.statements.find(
    (statement) => ts.isInterfaceDeclaration(statement) && statement.name.text === name
  )
  const bases =
    declaration !== undefined && ts.isInterfaceDeclaration(declaration) ? (declaration.heritageClauses ?? []) : []
  return bases.flatMap((base) =>
    [...base.getText(source).matchAll(/OptionsOf<typeof (\w+)>/g)].map(([, readers = '']) => readers)
  )
}

function findMembers (statement: ts.Statement, name: string): ts.NodeArray<ts.Node> | undefined {
  if (ts.isInterfaceDeclaration(statement)) return statement.name.text === name ? statement.members : undefined
  if (ts.isTypeAliasDeclaration(statement)) {
    return statement.name.text === name && ts.isUnionTypeNode(statement.type) ? statement.type.types : undefined
  }
  if (!ts.isVariableStatement(statement)) return undefined
  const [declaration] = statement.declarationList.declarations
  const value = declaration?.initializer
  const object = value !== undefined && ts.isAsExpression(value) ? value.expression : value
  const isNamed = declaration !== undefined && ts.isIdentifier(declaration.name) && declaration.name.text === name
  return isNamed && object !== undefined && ts.isObjectLiteralExpression(object) ? object.properties : undefined
}

function nameOf (member: ts.Node, source: ts.SourceFile): string {
  const { name = member } = member as { name?: ts.Node }
  return name.getText(source).replaceAll("'", '')
}

function isOptional (member: ts.Node): boolean {
  if (ts.isPropertyAssignment(member) || ts.isShorthandPropertyAssignment(member)) return true
  return (ts.isPropertySignature(member) || ts.isMethodSignature(member)) && member.questionToken !== undefined
}

function parseComment (before: string): Pick<Member, 'text' | 'defaultText'> {
  const comment = before.slice(before.lastIndexOf('/**') + 3, before.lastIndexOf('*/'))
  const line = comment.replaceAll(/^\s*\* ?/gm, '').replaceAll(/\s+/g, ' ').trim()
  const [text = '', defaultText = null] = line.replace(/ ?@example .*/, '').split(/ ?@default /)
  return { text, defaultText }
}
