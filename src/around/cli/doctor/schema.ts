import { quoteName } from '../../../storages/postgres/sql.js'
import { countRows, describeSchema, type Description, parseKey, readExpected } from '../../../storages/postgres/upgrade/describe.js'
import { readVersion } from '../../../storages/postgres/upgrade/version.js'
import { type DoctorContext, fault, type Finding, orOk, unknown } from './finding.js'

/** Whether the schema matches this version's migrations and functions. */
export async function checkSchema ({ session, query, schema, quotedSchema }: DoctorContext): Promise<Finding[]> {
  const { migrations } = await readVersion()
  const done = await query<{ name: string }>(`select name from ${quotedSchema}.migrations`)
  const later = done.find(({ name }) => !migrations.has(name))
  if (later !== undefined) {
    return [unknown(`not compared, because a later version of this package has run ${later.name}`,
      'run doctor of that version')]
  }
  const expected = await readExpected()
  const found = await session.transaction('describe the schema', (run) => describeSchema(run, schema))
  const faults = compare({ expected, found, quotedSchema })
  return orOk(faults, `its ${expected.size} tables, columns, indexes, functions and so on match this version`)
}

/** Whether tables have the rows that `migrate` inserts. */
export async function checkRows ({ query, schema }: DoctorContext): Promise<Finding[]> {
  const expected = [...await readExpected()].filter(([key]) => parseKey(key).kind === 'rows')
  const counts = await countRows(query, schema, expected.map(([key]) => parseKey(key).owner))
  const { migrations } = await readVersion()
  const text = [...migrations.values()].join('\n')
  const wrong = expected.filter(([key]) => counts.get(key) === '0').map(([key]) => {
    const { owner } = parseKey(key)
    return fault(`the table ${owner} is empty, so statements that rely on its row fail or do nothing`,
      `set search_path to ${quoteName(schema)}, pg_temp; ${findInsert(text, owner)}`)
  })
  return orOk(wrong, `${expected.map(([key]) => parseKey(key).owner).join(' and ')} have their rows`)
}

/** Returns the migrations' statement that fills a table. */
function findInsert (text: string, table: string): string {
  const [statement = ''] = new RegExp(`^insert into ${table}\\b[^;]*;`, 'm').exec(text) ??
    new RegExp(`^do \\$\\$(?:(?!^\\$\\$;).)*?insert into ${table}\\b.*?^\\$\\$;`, 'ms').exec(text) ?? []
  return statement.replaceAll(/\s+/g, ' ')
}

/** The expected schema and the actual one. */
interface Compared {
  expected: Description
  found: Description
  quotedSchema: string
}

/** An object of the schema, with quoted names. */
interface SchemaObject {
  /** The table, or a sequence's or function's own name. */
  owner: string
  /** Of a column, constraint or index. */
  name: string
  /** With the schema, for objects that are not part of a table. */
  fullName: string
  definition: string
}

/** The effects of differences in one kind of object, and the SQL that repairs them. */
interface Kind {
  noun: string
  /** The effect of a missing object; `null` if that is reported for another object. */
  missing: string | null
  /** The effect of another definition; `null` if there is none. */
  changed: string | ((expected: string, found: string) => string | null)
  /** The effect of an object that this version does not create. There is none by default. */
  extra? (key: string, definition: string, compared: Compared): string | null
  /** Whether the definition is a digest, which people cannot read. @default false */
  isDigest?: boolean
  create (object: SchemaObject): string
  /** @default drops it and creates it */
  change? (object: SchemaObject): string
  drop? (object: SchemaObject): string
}

const lateVacuum = 'so vacuum removes dead rows too late, and claims read them'
const ownWrite = 'so it runs with each write of this package and can make it fail'

const kinds: Readonly<Record<string, Kind>> = {
  sequence: {
    noun: 'the sequence',
    missing: 'so there are no new ids',
    changed: 'so new ids may repeat, run out or come in another order',
    create: ({ fullName, definition }) =>
      `create ${splitUnlogged(definition)} sequence ${fullName} ${definition.replace('unlogged ', '')}`,
    change: ({ fullName, definition }) => `alter sequence ${fullName} as ${definition.replace('unlogged ', '')}`
  },
  table: {
    noun: 'the table',
    missing: 'so every statement that uses it fails',
    changed: (_, found) => found === 'unlogged' ? 'so a crash of the server empties it' : null,
    create: ({ owner, definition }) => `create ${splitUnlogged(definition)} table ${owner} ()`,
    change: ({ owner }) => `alter table ${owner} set logged`
  },
  column: {
    noun: 'the column',
    missing: 'so every statement that names it fails',
    changed: 'so statements that compare, sort or write it may fail or be wrong',
    create: ({ owner, name, definition }) => `alter table ${owner} add column ${name} ${definition}`,
    change ({ owner, name, definition }) {
      const [type] = definition.split(' collate ')
      return `alter table ${owner} alter column ${name} type ${definition} using ${name}::${type}`
    }
  },
  default: {
    noun: 'the default of',
    missing: 'so inserts that rely on it fail',
    changed: 'so inserts store another value',
    create: ({ owner, name, definition }) => definition.startsWith('generated')
      ? `alter table ${owner} alter column ${name} add ${definition}`
      : `alter table ${owner} alter column ${name} set default ${definition}`
  },
  'not-null': {
    noun: 'the constraint not null of',
    missing: 'so a row without a value can be stored, and later statements fail',
    changed: () => null,
    extra (key, _, { expected, found }) {
      const column = key.slice('not-null '.length)
      const isFilled = !expected.has(`column ${column}`) && found.has(`default ${column}`)
      return isFilled ? null : 'so inserts that leave it out fail'
    },
    create: ({ owner, name }) => `alter table ${owner} alter column ${name} set not null`,
    drop: ({ owner, name }) => `alter table ${owner} alter column ${name} drop not null`
  },
  constraint: {
    noun: 'the constraint',
    missing: 'so wrong or repeated rows can be stored, and inserts that rely on it fail',
    changed: 'so wrong rows can be stored, or right ones are rejected',
    extra: () => 'so writes of this package that it does not allow fail',
    create: ({ owner, name, definition }) => `alter table ${owner} add constraint ${name} ${definition}`,
    drop: ({ owner, name }) => `alter table ${owner} drop constraint ${name}`
  },
  index: {
    noun: 'the index',
    missing: 'so statements that need it read the whole table',
    changed: 'so statements that need it read the whole table, or right rows are rejected',
    extra (_, definition) {
      if (definition.endsWith(' (invalid)')) return 'so each write maintains it although no statement can use it'
      return definition.startsWith('CREATE UNIQUE') ? 'so writes of this package that it does not allow fail' : null
    },
    create: ({ owner, definition }) => definition.replace(/^CREATE (UNIQUE )?INDEX (.+?) ON \S+ /,
      (_, unique = '', name) => `create ${unique.toLowerCase()}index concurrently ${name} on ${owner} `),
    drop: ({ fullName }) => `drop index ${fullName}`
  },
  setting: {
    noun: 'the storage parameter',
    missing: lateVacuum,
    // Lower values only make vacuum run more often.
    changed: (expected, found) => Number(found) > Number(expected) ? lateVacuum : null,
    create: ({ owner, name, definition }) => `alter table ${owner} set (${name} = ${definition})`,
    change: ({ owner, name, definition }) => `alter table ${owner} set (${name} = ${definition})`
  },
  trigger: {
    noun: 'the trigger',
    missing: 'so its effect is missing',
    changed: 'so its effect may be wrong',
    extra: () => ownWrite,
    create: ({ owner, definition }) => definition.replace(/ ON \S+ /, ` ON ${owner} `),
    drop: ({ owner, name }) => `drop trigger ${name} on ${owner}`
  },
  rule: {
    noun: 'the rule',
    missing: 'so its effect is missing',
    changed: 'so its effect may be wrong',
    extra: () => ownWrite,
    create: ({ definition }) => definition,
    drop: ({ owner, name }) => `drop rule ${name} on ${owner}`
  },
  function: {
    noun: 'the function',
    missing: 'so every call fails',
    changed: 'so calls fail or behave differently',
    extra: () => 'so this package may call the wrong one',
    create: () => 'run fastify-recruiting-api migrate',
    drop: ({ fullName }) => `drop function ${fullName}`
  },
  body: {
    noun: 'the body of the function',
    missing: null,
    changed: 'so calls may fail or behave differently',
    isDigest: true,
    create: () => 'run fastify-recruiting-api migrate',
    drop: ({ fullName }) => `drop function ${fullName}`
  }
}

function splitUnlogged (definition: string): string {
  return definition.startsWith('unlogged') ? 'unlogged' : ''
}

function compare (compared: Compared): Finding[] {
  const { expected, found } = compared
  const [tables, functions] = [listOwners(expected, 'table'), listOwners(expected, 'function')]
  const locked = listOwners(found, 'locked')
  // A missing table or column is reported without its parts.
  const wrong = [...expected].filter(([key]) => {
    const isLost = listWholes(key).some((whole) => expected.has(whole) && !found.has(whole))
    return !isLost && !locked.has(parseKey(key).owner)
  })
  const more = [...found].filter(([key]) => {
    const { owner } = parseKey(key)
    return !expected.has(key) && (tables.has(owner) || functions.has(owner))
  })
  return [
    ...[...locked].filter((table) => tables.has(table)).map((table) => unknown(
      `the table ${table} was not compared, because a transaction has locked it`,
      'end the transactions that the check locks reports, then run the command again')),
    ...wrong.flatMap(([key, definition]) => compareExpected(key, definition, compared)),
    ...more.flatMap(([key, definition]) => compareExtra(key, definition, compared))
  ]
}

/** Lists the table and the column that an object is part of. */
function listWholes (key: string): string[] {
  const { kind, owner, name } = parseKey(key)
  const column = kind === 'default' || kind === 'not-null' ? [`column ${owner}.${name}`] : []
  return kind === 'table' ? [] : [`table ${owner}`, ...column]
}

function listOwners (description: Description, wanted: string): Set<string> {
  return new Set([...description.keys()].map(parseKey).filter(({ kind }) => kind === wanted).map(({ owner }) => owner))
}

function compareExpected (key: string, definition: string, compared: Compared): Finding[] {
  const { expected, found } = compared
  const kind = kinds[parseKey(key).kind]
  const now = found.get(key)
  if (kind === undefined || now === definition) return []
  if (now === undefined) {
    if (kind.missing === null) return []
    const parts = [...expected].filter(([part]) => part === key || listWholes(part).includes(key))
    const statements = parts.flatMap(([part, text]) =>
      kinds[parseKey(part).kind]?.create(nameObject(part, text, compared)) ?? [])
    return [fault(`${label(key)} is missing, ${kind.missing}`, statements.join('; '))]
  }
  const effect = typeof kind.changed === 'string' ? kind.changed : kind.changed(definition, now)
  if (effect === null) return []
  const object = nameObject(key, definition, compared)
  const remedy = kind.change?.(object) ?? [kind.drop?.(object) ?? [], kind.create(object)].flat().join('; ')
  const difference = kind.isDigest === true ? "differs from this version's" : `is "${now}" instead of "${definition}"`
  return [fault(`${label(key)} ${difference}, ${effect}`, remedy)]
}

function compareExtra (key: string, definition: string, compared: Compared): Finding[] {
  const kind = kinds[parseKey(key).kind]
  const effect = kind?.extra?.(key, definition, compared) ?? null
  if (effect === null) return []
  const remedy = kind?.drop?.(nameObject(key, definition, compared)) ?? ''
  return [fault(`${label(key)} is not part of this version, ${effect}`, remedy)]
}

function label (key: string): string {
  const { kind } = parseKey(key)
  return `${kinds[kind]?.noun} ${key.slice(kind.length + 1)}`
}

function nameObject (key: string, definition: string, { quotedSchema }: Compared): SchemaObject {
  const { kind, owner, name } = parseKey(key)
  const own = `${quotedSchema}.${quoteName(owner)}`
  const isFunction = kind === 'function' || kind === 'body'
  return {
    owner: own,
    name: quoteName(name),
    fullName: isFunction ? own + name : name === '' ? own : `${quotedSchema}.${quoteName(name)}`,
    definition
  }
}
