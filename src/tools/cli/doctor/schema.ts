import { quoteName } from '../../../storages/postgres/sql.js'
import {
  countRows, describeSchema, type Description, parseKey, readExpected
} from '../../../storages/postgres/upgrade/describe.js'
import { readVersion } from '../../../storages/postgres/upgrade/version.js'
import { type Check, fault, type Finding, unknown } from './finding.js'

/** Compares the schema with this version's migrations and functions. */
export const schemaCheck: Check = {
  name: 'schema',
  ok: 'its tables, columns, indexes, functions and so on match this version, and it has the rows of migrate',
  async find ({ session, query, schema, quotedSchema }) {
    const { migrations } = await readVersion()
    const done = await query<{ name: string }>(`select name from ${quotedSchema}.migrations`)
    const later = done.find(({ name }) => !migrations.has(name))
    if (later !== undefined) {
      return [unknown(`not compared, because a later version of this package has run ${later.name}`,
        'run doctor of that version')]
    }
    const expected = await readExpected()
    const found = await session.transaction('describe the schema', (run) => describeSchema(run, schema))
    const filled = [...expected.keys()].map(parseKey)
      .filter(({ kind, owner }) => kind === 'rows' && found.has(`table ${owner}`)).map(({ owner }) => owner)
    for (const [key, count] of await countRows(query, schema, filled)) found.set(key, count)
    return compare({ expected, found, quotedSchema, migrations: [...migrations.values()].join('\n') })
  }
}

/** The expected schema and the actual one, and the text of all migrations. */
type Compared = Record<'expected' | 'found', Description> & Record<'quotedSchema' | 'migrations', string>

/**
 * SQL with these parts, such as `$owner`, or a function that returns it. Names are quoted: `owner` is the table, or a
 * sequence's or function's own name; `name` that of a column, constraint or index; `full` includes the schema.
 */
type Sql = string | ((object: Record<'owner' | 'name' | 'full' | 'definition' | 'migrations', string>) => string)

/** The effects of differences in one kind of object, and the SQL that repairs them. */
interface Kind {
  /** Its name, and the effects of a missing and of a different one; `null` if another object reports it. */
  effects: [noun: string, missing: string | null, changed: string]
  isHarmless? (expected: string, found: string): boolean
  /** The effect of an object that this version does not create; `null` if there is none. */
  extra?: string | ((key: string, definition: string, compared: Compared) => string | null)
  /** The text of a difference. @default both definitions */
  difference?: string
  create: Sql
  /** @default drops it and creates it */
  change?: Sql
  drop?: Sql
}

const lateVacuum = 'so vacuum removes dead rows too late, and claims read them'
const ownWrite = 'so it runs with each write of this package and can make it fail'
const noWrite = 'so writes of this package that it does not allow fail'
const ofColumn = 'alter table $owner alter column $name'
const remade = { create: 'run fastify-recruiting-api migrate', drop: 'drop function $full' }
const ofTrigger = ['so its effect is missing', 'so its effect may be wrong'] as const

const kinds: Readonly<Record<string, Kind>> = {
  sequence: {
    effects: ['the sequence', 'so there are no new ids', 'so new ids may repeat, run out or come in another order'],
    create: ({ full, definition }) => definition.startsWith('unlogged ')
      ? `create unlogged sequence ${full} ${definition.slice('unlogged '.length)}`
      : `create sequence ${full} ${definition}`,
    change: ({ full, definition }) => `alter sequence ${full} as ${definition.replace('unlogged ', '')}`
  },
  table: {
    effects: ['the table', 'so every statement that uses it fails', 'so a crash of the server empties it'],
    isHarmless: (_, found) => found !== 'unlogged',
    create: ({ owner, definition }) => `create ${definition === 'unlogged' ? 'unlogged ' : ''}table ${owner} ()`,
    change: 'alter table $owner set logged'
  },
  column: {
    effects: ['the column', 'so every statement that names it fails',
      'so statements that compare, sort or write it may fail or be wrong'],
    create: 'alter table $owner add column $name $definition',
    change: ({ definition }) => `${ofColumn} type $definition using $name::${definition.split(' collate ')[0]}`
  },
  default: {
    effects: ['the default of', 'so inserts that rely on it fail', 'so inserts store another value'],
    create: ({ definition }) =>
      `${ofColumn} ${definition.startsWith('generated') ? 'add' : 'set default'} $definition`
  },
  'not-null': {
    effects: ['the constraint not null of', 'so a row without a value can be stored, and later statements fail', ''],
    extra (key, _, { expected, found }) {
      const column = key.slice('not-null '.length)
      const isFilled = !expected.has(`column ${column}`) && found.has(`default ${column}`)
      return isFilled ? null : 'so inserts that leave it out fail'
    },
    create: `${ofColumn} set not null`,
    drop: `${ofColumn} drop not null`
  },
  constraint: {
    effects: ['the constraint', 'so wrong or repeated rows can be stored, and inserts that rely on it fail',
      'so wrong rows can be stored, or right ones are rejected'],
    extra: noWrite,
    create: 'alter table $owner add constraint $name $definition',
    drop: 'alter table $owner drop constraint $name'
  },
  index: {
    effects: ['the index', 'so statements that need it read the whole table',
      'so statements that need it read the whole table, or right rows are rejected'],
    extra (_, definition) {
      if (definition.endsWith(' (invalid)')) return 'so each write maintains it although no statement can use it'
      return definition.startsWith('CREATE UNIQUE') ? noWrite : null
    },
    create: ({ definition }) => definition.replace(/^CREATE (UNIQUE )?INDEX (.+?) ON \S+ /,
      (_, unique = '', name) => `create ${unique.toLowerCase()}index concurrently ${name} on $owner `),
    drop: 'drop index $full'
  },
  setting: {
    effects: ['the storage parameter', lateVacuum, lateVacuum],
    // They only make vacuum run more often.
    isHarmless: (expected, found) => Number(found) <= Number(expected),
    create: 'alter table $owner set ($name = $definition)'
  },
  trigger: {
    effects: ['the trigger', ...ofTrigger],
    extra: ownWrite,
    create: ({ definition }) => definition.replace(/ ON \S+ /, ' ON $owner '),
    drop: 'drop trigger $name on $owner'
  },
  rule: {
    effects: ['the rule', ...ofTrigger],
    extra: ownWrite,
    create: '$definition',
    drop: 'drop rule $name on $owner'
  },
  function: {
    effects: ['the function', 'so every call fails', 'so calls fail or behave differently'],
    extra: 'so this package may call the wrong one',
    ...remade
  },
  body: {
    effects: ['the body of the function', null, 'so calls may fail or behave differently'],
    difference: "differs from this version's",
    ...remade
  },
  rows: {
    effects: ['the table', null, 'so statements that rely on its row fail or do nothing'],
    isHarmless: (_, found) => found !== '0',
    difference: 'is empty',
    create: '',
    change: ({ owner, migrations }) => findInsert(migrations, owner)
  }
}

/** Returns the migrations' statement that fills a table. */
function findInsert (migrations: string, owner: string): string {
  const [, schema = '', table = ''] = /^(.*)\."(\w+)"$/.exec(owner) ?? []
  const [statement = ''] = new RegExp(`^insert into ${table}\\b[^;]*;`, 'm').exec(migrations) ??
    new RegExp(`^do \\$\\$(?:(?!^\\$\\$;).)*?insert into ${table}\\b.*?^\\$\\$;`, 'ms').exec(migrations) ?? []
  return `set search_path to ${schema}, pg_temp; ${statement.replaceAll(/\s+/g, ' ')}`
}

function compare (compared: Compared): Finding[] {
  const { expected, found } = compared
  const listOwners = (from: Description, ...wanted: string[]): Set<string> =>
    new Set([...from.keys()].map(parseKey).filter(({ kind }) => wanted.includes(kind)).map(({ owner }) => owner))
  const own = listOwners(expected, 'table', 'function')
  const locked = listOwners(found, 'locked')
  return [
    ...[...locked].filter((table) => own.has(table)).map((table) => unknown(
      `the table ${table} was not compared, because a transaction has locked it`,
      'end the transactions that the check locks reports, then run the command again')),
    // A missing table or column is reported without its parts.
    ...[...expected.keys()].filter((key) => !locked.has(parseKey(key).owner) &&
      !listWholes(key).some((whole) => expected.has(whole) && !found.has(whole))),
    ...[...found.keys()].filter((key) => !expected.has(key) && own.has(parseKey(key).owner))
  ].flatMap((one) => typeof one === 'string' ? compareObject(one, compared) : one)
}

/** Lists the table and the column that an object is part of. */
function listWholes (key: string): string[] {
  const { kind, owner, name } = parseKey(key)
  const column = kind === 'default' || kind === 'not-null' ? [`column ${owner}.${name}`] : []
  return kind === 'table' ? [] : [`table ${owner}`, ...column]
}

function compareObject (key: string, compared: Compared): Finding[] {
  const { expected, found } = compared
  const [wanted, now = ''] = [expected.get(key), found.get(key)]
  const kind = kinds[parseKey(key).kind]
  if (kind === undefined || wanted === now) return []
  const { effects: [noun, missing, changed], difference = `is "${now}" instead of "${wanted}"`, extra = null } = kind
  const report = (problem: string, effect: string | null, statements: string[]): Finding[] => effect === null
    ? []
    : [fault(`${noun} ${key.slice(key.indexOf(' ') + 1)} ${problem}, ${effect}`,
        statements.filter((statement) => statement !== '').join('; '))]
  if (wanted === undefined) {
    return report('is not part of this version', typeof extra === 'function' ? extra(key, now, compared) : extra,
      [formatSql(kind.drop, key, now, compared)])
  }
  if (!found.has(key)) {
    return report('is missing', missing, [...expected]
      .filter(([part]) => part === key || listWholes(part).includes(key))
      .map(([part, text]) => formatSql(kinds[parseKey(part).kind]?.create, part, text, compared)))
  }
  return report(difference, kind.isHarmless?.(wanted, now) === true ? null : changed,
    (kind.change === undefined ? [kind.drop, kind.create] : [kind.change])
      .map((sql) => formatSql(sql, key, wanted, compared)))
}

function formatSql (
  sql: Sql = '', key: string, definition: string, { quotedSchema, migrations }: Compared
): string {
  const { kind, owner: table, name } = parseKey(key)
  const owner = `${quotedSchema}.${quoteName(table)}`
  const isFunction = kind === 'function' || kind === 'body'
  const full = isFunction ? owner + name : name === '' ? owner : `${quotedSchema}.${quoteName(name)}`
  const object = { owner, name: quoteName(name), full, definition, migrations }
  return (typeof sql === 'string' ? sql : sql(object)).replaceAll(/\$(owner|name|full|definition)\b/g,
    (_, part: 'owner' | 'name' | 'full' | 'definition') => object[part])
}
