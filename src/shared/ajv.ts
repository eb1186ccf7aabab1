import { Ajv, type AnySchema, type ErrorObject, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import { formatFieldPath } from './fields.js'
import { textIdPattern, textIdRule } from './ids.js'

/**
 * Returns a function that keeps what was compiled from a schema for the life of the process, by the text of the schema.
 * Compiling takes most of the time of a registration, and the tests of a host often register once per test.
 */
export function keepCompiled<Compiled> (): (schema: unknown, compile: () => Compiled) => Compiled {
  const kept = new Map<string, Compiled>()
  return (schema, compile) => {
    const text = JSON.stringify(schema)
    const known = kept.get(text)
    if (known !== undefined) return known
    const compiled = compile()
    // Schemas with `$id` or `$ref` depend on others.
    if (!text.includes('"$')) kept.set(text, compiled)
    return compiled
  }
}

// With TypeScript `nodenext`, the default import of this CommonJS package is its namespace.
const addFormats = formats.default

// Shared, and created with the first use, because compiling the meta-schema takes longer than the rest of a
// registration.
let schemaAjv: Ajv | null = null

const compiled = keepCompiled<ValidateFunction>()

/** Creates a validator that neither converts types nor removes fields. By default it stops at the first error. */
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

/** Compiles a schema that is valid. */
export function compileSchema (ajv: Ajv, schema: AnySchema): ValidateFunction {
  const { useDefaults, allErrors } = ajv.opts
  return compiled([{ useDefaults, allErrors }, schema], () => ajv.compile(schema))
}

/** Compiles a schema of the host. Throws if it is not valid. */
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

/** Says which rule a validation error breaks, such as `is required`. */
export function describeFault ({ keyword, params, message = 'is not valid', parentSchema }: ErrorObject): string {
  if (keyword === 'required') return 'is required'
  if (keyword === 'additionalProperties') return 'is not known'
  if (keyword === 'enum') return `must be one of ${params.allowedValues.join(', ')}`
  if (keyword === 'pattern' && params.pattern === textIdPattern) return `must be ${textIdRule}`
  // The description is easier to read than the pattern.
  if (keyword === 'pattern' && parentSchema?.description) return `must be ${parentSchema.description}`
  return message
}
