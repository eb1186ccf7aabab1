import { type AnySchema, type ErrorObject, type ValidateFunction, Ajv } from 'ajv'
import formats from 'ajv-formats'
import type { TObject } from '@sinclair/typebox'
import { formatFieldPath } from './fields.js'
import { textIdPattern, textIdRule } from './ids.js'
import { assertOption, rejectOption } from './read-options.js'

/**
 * Returns a function that caches compiled schemas by their text for the life of the process. Compiling takes most of
 * the time of a registration, and a host's tests often register once per test.
 */
export function keepCompiled<Compiled> (): (schema: unknown, compile: () => Compiled) => Compiled {
  const cached = new Map<string, Compiled>()
  return (schema, compile) => {
    const text = JSON.stringify(schema)
    const known = cached.get(text)
    if (known !== undefined) return known
    const compiled = compile()
    // A schema with `$id` or `$ref` depends on other schemas.
    if (!text.includes('"$')) cached.set(text, compiled)
    return compiled
  }
}

// With TypeScript `nodenext`, the default import of this CommonJS package is its namespace.
const addFormats = formats.default

// Shared and created on first use: compiling the meta-schema takes longer than the rest of a registration.
let schemaAjv: Ajv | null = null

const compiled = keepCompiled<ValidateFunction>()

/** Creates a validator that does not convert types or remove fields. By default it stops at the first error. */
export function createAjv ({ useDefaults, allErrors = false }: { useDefaults: boolean, allErrors?: boolean }): Ajv {
  const ajv = new Ajv({
    allErrors,
    coerceTypes: false,
    removeAdditional: false,
    useDefaults,
    strict: false,
    strictNumbers: true,
    validateSchema: false,
    verbose: true
  })
  addFormats(ajv)
  return ajv
}

export function compileSchema (ajv: Ajv, schema: AnySchema): ValidateFunction {
  const { useDefaults, allErrors } = ajv.opts
  return compiled([{ useDefaults, allErrors }, schema], () => ajv.compile(schema))
}

/** Compiles a host's schema. Throws if it is invalid. */
export function compileHostSchema (ajv: Ajv, schema: AnySchema): ValidateFunction {
  schemaAjv ??= new Ajv({ allErrors: true, strict: false })
  schemaAjv.validateSchema(schema, true)
  return compileSchema(ajv, schema)
}

/** Returns the path of a validation error, such as `event_types[0]`, including a missing or unknown field. */
export function formatFaultPath ({
  instancePath,
  params
}: {
  instancePath: string
  params: Record<string, unknown>
}): string {
  const steps = instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  const named = params.missingProperty ?? params.additionalProperty
  if (typeof named === 'string') steps.push(named)
  return formatFieldPath(steps)
}

/** Returns the rule that a validation error breaks, such as `is required`. */
export function describeFault ({ keyword, params, message = 'is not valid', parentSchema }: ErrorObject): string {
  if (keyword === 'required') return 'is required'
  if (keyword === 'additionalProperties') return 'is not known'
  if (keyword === 'enum') return `must be one of ${params.allowedValues.join(', ')}`
  if (keyword !== 'pattern') return message
  if (params.pattern === textIdPattern) return `must be ${textIdRule}`
  // A description that begins with a phrase, such as that of `sort`, is easier to read than the pattern.
  const [phrase = ''] = String(parentSchema?.description ?? '').split('. ')
  return /^[^A-Z]/.test(phrase) ? `must be ${phrase}` : message
}

/** Throws `invalid_option` unless the value is a valid object schema. */
export function assertHostSchema (
  value: unknown, path: string, ajv = createAjv({ useDefaults: false })
): asserts value is TObject {
  const isObjectSchema =
    typeof value === 'object' && value !== null && 'type' in value && value.type === 'object' && 'properties' in value
  assertOption(isObjectSchema, path, 'a TypeBox object schema', value)
  try {
    // Tenants read the schema and its examples as JSON.
    JSON.stringify(value, rejectNonJson)
    compileHostSchema(ajv, value as TObject)
  } catch (error) {
    rejectOption(path, `a valid schema (${error instanceof Error ? error.message : String(error)})`, value)
  }
}

/** Throws for values that `JSON.stringify` drops or turns into null. An undefined property counts as absent. */
function rejectNonJson (this: unknown, name: string, value: unknown): unknown {
  const isLost =
    ['bigint', 'function', 'symbol'].includes(typeof value) ||
    (value === undefined && Array.isArray(this)) ||
    (typeof value === 'number' && !Number.isFinite(value))
  if (isLost) {
    throw new TypeError(
      `JSON cannot represent ${JSON.stringify(name)}, ${typeof value === 'number' ? value : `of type ${typeof value}`}`
    )
  }
  return value
}
