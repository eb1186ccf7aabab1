import type {
  ArrayOptions, IntegerOptions, Kind, ObjectOptions, OptionalKind, SchemaOptions, Static, StringOptions, TArray,
  TBoolean, TInteger, TLiteral, TLiteralValue, TNull, TObject, TOptional, TPartial, TProperties, TSchema, TString,
  TUnknown, TUnsafe, UnsafeOptions
} from '@sinclair/typebox'

/** The symbols by which `@sinclair/typebox` recognizes its schemas. */
const kKind: typeof Kind = Symbol.for('TypeBox.Kind') as typeof Kind
const kOptional: typeof OptionalKind = Symbol.for('TypeBox.Optional') as typeof OptionalKind

/**
 * Builds the same schemas as `Type` of `@sinclair/typebox`, with the same types. Loading that package's more than 200
 * files would take longer than the rest of startup.
 */
export const Type = {
  Array: <T extends TSchema>(items: T, options?: ArrayOptions): TArray<T> =>
    build('Array', { type: 'array', items }, options),
  Boolean: <Options extends SchemaOptions>(options?: Options): TBoolean & DefaultOf<Options> =>
    build('Boolean', { type: 'boolean' }, options),
  Integer: <Options extends IntegerOptions>(options?: Options): TInteger & DefaultOf<Options> =>
    build('Integer', { type: 'integer' }, options),
  Literal: <const T extends TLiteralValue>(value: T, options?: SchemaOptions): TLiteral<T> =>
    build('Literal', { const: value, type: typeof value }, options),
  Null: (options?: SchemaOptions): TNull => build('Null', { type: 'null' }, options),
  Object: <T extends TProperties>(properties: T, options?: ObjectOptions): TObject<T> => {
    const required = Object.keys(properties).filter((name) => properties[name]?.[kOptional] === undefined)
    return build('Object', { type: 'object', ...(required.length === 0 ? {} : { required }), properties }, options)
  },
  Optional: <T extends TSchema>(schema: T): TOptional<T> => ({ ...schema, [kOptional]: 'Optional' }),
  Partial: <T extends TProperties>(
    { required, properties, ...rest }: TObject<T>,
    options?: ObjectOptions
  ): TPartial<TObject<T>> => {
    const optional = Object.entries(properties).map(([name, schema]) => [name, Type.Optional(schema)])
    return { ...Type.Object(Object.fromEntries(optional), rest), ...options } as TPartial<TObject<T>>
  },
  String: <Options extends StringOptions>(options?: Options): TString & DefaultOf<Options> =>
    build('String', { type: 'string' }, options),
  Unknown: (options?: SchemaOptions): TUnknown => build('Unknown', {}, options),
  Unsafe: <T>(schema: UnsafeOptions): TUnsafe<T> => build(schema[kKind] ?? 'Unsafe', {}, schema)
}

/** The default, so that the type of a schema shows which fields clients can omit. */
type DefaultOf<Options> = Options extends { default: infer Value } ? { default: Value } : unknown

/** The input that clients send, without the fields that have a default. */
export type InputOf<Schema extends TSchema> = Schema extends TObject<infer Properties>
  ? WithOptional<InputsOf<Properties, Static<Schema>>, Defaulted<Properties>>
  : Static<Schema>

type InputsOf<Properties, Value> = {
  [Name in keyof Value]: Name extends keyof Properties
    ? Properties[Name] extends TObject ? InputOf<Properties[Name]> : Value[Name]
    : Value[Name]
}

type WithOptional<Value, Names> = Omit<Value, Names & keyof Value> & Partial<Pick<Value, Names & keyof Value>>

type Defaulted<Properties> = {
  [Name in keyof Properties]: Properties[Name] extends { default: unknown } ? Name : never
}[keyof Properties]

function build<Schema extends TSchema> (kind: string, keywords: object, options?: object): Schema {
  const schema: object = { ...options, [kKind]: kind, ...keywords }
  return schema as Schema
}

/** Uses an array of types, which serializes faster than a union. */
export function Nullable<T extends TSchema> (schema: T) {
  const values = schema.enum === undefined ? {} : { enum: [...schema.enum, null] }
  return Type.Unsafe<T['static'] | null>({ ...schema, ...values, type: [schema.type, 'null'] })
}

/** Uses an enum, which is shorter in the document and serializes faster than a union. */
export function OneOf<const T extends string, Options extends { description?: string, default?: NoInfer<T> }> (
  values: readonly T[], options?: Options
): TUnsafe<T> & DefaultOf<Options> {
  return build('Unsafe', { type: 'string', enum: values, ...options })
}

const dateTime = { format: 'date-time', examples: ['2026-03-01T09:30:00.000Z'] }

/** RFC 3339 in UTC with milliseconds. */
export const DateTime = Type.String(dateTime)

export function DateTimeOf (description: string) {
  return Type.String({ ...dateTime, description })
}

/** Who created an API key or a webhook. */
export const CreatedBy = Type.Object({
  type: OneOf(['key', 'session', 'code'], {
    description: "An API key, a user of the vendor's portal, or the vendor's own code"
  }),
  id: Nullable(Type.String({
    description: "The id of the key, or of the portal user. For the vendor's code, a name or null",
    examples: ['user:17']
  }))
}, { title: 'CreatedBy' })

/**
 * Returns an example of the schema, from its `examples`. Parts without one get a value of their type, which may violate
 * rules such as `pattern`.
 */
export function exampleOf (schema: TSchema): unknown {
  const { examples: [example] = [], const: only, default: usual, enum: choices, anyOf, oneOf, allOf, type } = schema
  for (const value of [example, only, usual, choices?.[0]]) if (value !== undefined) return value
  const [alternative] = anyOf ?? oneOf ?? []
  if (alternative !== undefined) return exampleOf(alternative)
  if (Array.isArray(allOf)) return Object.assign(exampleOfObject(schema), ...allOf.map(exampleOf))
  const [first] = [type].flat()
  if (first === 'object') return exampleOfObject(schema)
  if (first === 'array') return exampleOfArray(schema)
  if (first === 'string') return exampleOfText(schema)
  if (first === 'integer' || first === 'number') return exampleOfNumber(schema)
  return first === 'boolean' ? true : null
}

/** Contains the required properties and those with an example. */
function exampleOfObject ({ properties = {}, required = [] }: TSchema): object {
  const entries = Object.entries(properties as Record<string, TSchema>)
  const shown = entries.filter(([name, { examples }]) => required.includes(name) || examples !== undefined)
  return Object.fromEntries(shown.map(([name, property]) => [name, exampleOf(property)]))
}

/** A tuple has one schema per item. */
function exampleOfArray ({ items, minItems = 0 }: TSchema): unknown[] {
  if (Array.isArray(items)) return items.map(exampleOf)
  return items === undefined ? [] : Array.from({ length: Math.max(1, minItems) }, () => exampleOf(items))
}

const textExamples: Record<string, string> = {
  'date-time': '2026-03-01T09:30:00.000Z',
  date: '2026-03-01',
  time: '09:30:00Z',
  duration: 'P1D',
  email: 'ada@example.com',
  hostname: 'www.example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://www.example.com/',
  uuid: '0b9a2f4e-5a53-4c8e-9f0e-2f6b8d1c7a11'
}

function exampleOfText ({ format, minLength = 0, maxLength }: TSchema): string {
  return textExamples[format] ?? 'text'.padEnd(minLength, '.').slice(0, maxLength)
}

/** The smallest allowed number. Without a lower limit it is 1, or the upper limit if that is smaller. */
function exampleOfNumber ({ type, minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf }: TSchema): number {
  const largest = maximum ?? (exclusiveMaximum === undefined ? 1 : exclusiveMaximum - 1)
  const smallest = minimum ?? (exclusiveMinimum === undefined ? Math.min(1, largest) : exclusiveMinimum + 1)
  const step = multipleOf ?? (type === 'integer' ? 1 : undefined)
  return step === undefined ? smallest : Math.ceil(smallest / step) * step
}

/** A schema made with `@sinclair/typebox` 0.34 or with `typebox` 1.x. */
export type TypeBoxSchema = { static: unknown } | { '~kind': string } | { '~unsafe': unknown }

/** The schema of an object, made with either TypeBox. */
export type TypeBoxObject = TypeBoxSchema & { type: 'object', properties: object }

/**
 * The type of the values that match a schema. Schemas of 0.34 have it as `static`. Schemas of 1.x only have their
 * structure, which this type reads: importing types from `typebox` would force the package on every host. References
 * and types that JSON lacks are `unknown`.
 */
export type StaticOf<Schema> =
  Schema extends { static: infer Value } ? Value
    : Schema extends { '~unsafe': infer Value } ? Value
      : Schema extends { '~kind': infer Kind } ? StaticOfKind<Kind, Schema>
        : unknown

type StaticOfKind<Kind, Schema> = Kind extends keyof Scalars
  ? Scalars[Kind]
  : Schema extends { '~kind': 'Object'; properties: infer Properties }
    ? StaticOfProperties<Properties>
    : Schema extends { '~kind': 'Array'; items: infer Item }
      ? Array<StaticOf<Item>>
      : Schema extends { '~kind': 'Tuple'; items: infer Items }
        ? StaticOfTuple<Items>
        : Schema extends { '~kind': 'Record'; patternProperties: infer Values }
          ? Record<string, StaticOf<Values[keyof Values]>>
          : Schema extends { '~kind': 'Literal'; const: infer Value }
            ? Value
            : Schema extends { '~kind': 'Enum'; enum: ReadonlyArray<infer Value> }
              ? Value
              : Schema extends { '~kind': 'Union'; anyOf: ReadonlyArray<infer Choice> }
                ? StaticOf<Choice>
                : Schema extends { '~kind': 'Intersect'; allOf: infer Parts }
                  ? StaticOfAll<Parts>
                  : // `Type.Unsafe` of earlier versions of 1.x.
                  Schema extends { '~kind': 'Unsafe'; '~hint': infer Value }
                    ? Value
                    : unknown

interface Scalars {
  Boolean: boolean
  Integer: number
  Never: never
  Null: null
  Number: number
  String: string
  TemplateLiteral: string
}

type OptionalNames<Properties> = {
  [Name in keyof Properties]: Properties[Name] extends { '~optional': true } ? Name : never
}[keyof Properties]

type StaticOfProperties<Properties> = Flat<
  & { [Name in Exclude<keyof Properties, OptionalNames<Properties>>]: StaticOf<Properties[Name]> }
  & { [Name in OptionalNames<Properties>]?: StaticOf<Properties[Name]> }
>

/** Shows an intersection as one object, in editors and in messages of the compiler. */
type Flat<Value> = { [Name in keyof Value]: Value[Name] }

type StaticOfTuple<Items> = { [Index in keyof Items]: StaticOf<Items[Index]> }

type StaticOfAll<Parts> = Parts extends [infer First, ...infer Rest] ? StaticOf<First> & StaticOfAll<Rest> : unknown
