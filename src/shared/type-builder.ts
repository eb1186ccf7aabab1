import type {
  ArrayOptions,
  IntegerOptions,
  Kind,
  ObjectOptions,
  OptionalKind,
  SchemaOptions,
  StringOptions,
  TArray,
  TBoolean,
  TInteger,
  TLiteral,
  TLiteralValue,
  TNull,
  TObject,
  TOptional,
  TPartial,
  TProperties,
  TSchema,
  TString,
  TUnknown,
  TUnsafe,
  UnsafeOptions
} from '@sinclair/typebox'

/** The symbols of `@sinclair/typebox`, by which its functions know the kind of a schema. */
const kKind: typeof Kind = Symbol.for('TypeBox.Kind') as typeof Kind
const kOptional: typeof OptionalKind = Symbol.for('TypeBox.Optional') as typeof OptionalKind

/**
 * Builds the same schemas as `Type` of `@sinclair/typebox`, of the same types. Loading that package, more than 200
 * files, would take longer than the rest of a start.
 */
export const Type = {
  Array: <T extends TSchema>(items: T, options?: ArrayOptions): TArray<T> =>
    build('Array', { type: 'array', items }, options),
  Boolean: (options?: SchemaOptions): TBoolean => build('Boolean', { type: 'boolean' }, options),
  Integer: (options?: IntegerOptions): TInteger => build('Integer', { type: 'integer' }, options),
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
  String: (options?: StringOptions): TString => build('String', { type: 'string' }, options),
  Unknown: (options?: SchemaOptions): TUnknown => build('Unknown', {}, options),
  Unsafe: <T>(schema: UnsafeOptions): TUnsafe<T> => build(schema[kKind] ?? 'Unsafe', {}, schema)
}

function build<Schema extends TSchema> (kind: string, keywords: object, options?: object): Schema {
  const schema: object = { ...options, [kKind]: kind, ...keywords }
  return schema as Schema
}
