/** A schema made with `@sinclair/typebox` 0.34 or with `typebox` 1.x. */
export type TypeBoxSchema = { static: unknown } | { '~kind': string } | { '~unsafe': unknown }

/** The schema of an object, made with either TypeBox. */
export type TypeBoxObject = TypeBoxSchema & { type: 'object', properties: object }

/**
 * The type of the values that match a schema. Schemas of 0.34 have it as `static`. Those of 1.x only have their
 * structure, which this reads itself: importing the types of `typebox` would force the package on every host. Types
 * that JSON does not have, and references, are `unknown`.
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
