import { Ajv, type AnySchema, type ErrorObject, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import { keepCompiled } from './compiled.js'
import { textIdPattern, textIdRule } from './ids.js'

// With TypeScript `nodenext`, the default import of this CommonJS package is its namespace.
const addFormats = formats.default

// Shared, because compiling the meta-schema takes longer than the rest of a registration.
let schemaAjv: Ajv | null = null

const compiled = keepCompiled<ValidateFunction>()

/** Creates a validator that neither converts types nor removes fields. By default it stops at the first error. */
export function createAjv ({ useDefaults, allErrors = false }: { useDefaults: boolean, allErrors?: boolean }): Ajv {
  const ajv = new Ajv({ allErrors, coerceTypes: false, removeAdditional: false, useDefaults, strict: false, validateSchema: false, verbose: true })
  addFormats(ajv)
  return ajv
}

/** Compiles a schema. Throws if it is not valid. */
export function compileSchema (ajv: Ajv, schema: AnySchema): ValidateFunction {
  const { useDefaults, allErrors } = ajv.opts
  return compiled([{ useDefaults, allErrors }, schema], () => {
    schemaAjv ??= new Ajv({ allErrors: true, strict: false })
    schemaAjv.validateSchema(schema, true)
    return ajv.compile(schema)
  })
}

/** Returns the path of a validation error, such as `event_types[0]`, including a missing or unknown field. */
export function formatFaultPath ({ instancePath, params }: { instancePath: string, params: Record<string, unknown> }): string {
  const steps = instancePath.split('/').slice(1).map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  const named = params.missingProperty ?? params.additionalProperty
  if (typeof named === 'string') steps.push(named)
  return steps.reduce((path, step) => /^\d+$/.test(step) ? `${path}[${step}]` : path === '' ? step : `${path}.${step}`, '')
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
