import { Ajv, type AnySchema, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'

/** `default` is the function for some module systems and its namespace for others. */
const addFormats = formats.default

/** Validates schemas, for all instances: compiling the meta-schema takes longer than the rest of a registration. */
let schemaAjv: Ajv | null = null

/** A validator that takes no value for another type, and drops nothing. It stops at the first fault unless told otherwise. */
export function createAjv ({ useDefaults, allErrors = false }: { useDefaults: boolean, allErrors?: boolean }): Ajv {
  const ajv = new Ajv({ allErrors, coerceTypes: false, removeAdditional: false, useDefaults, strict: false, validateSchema: false, verbose: true })
  addFormats(ajv)
  return ajv
}

/** Compiles a schema; throws if it is not valid. */
export function compileSchema (ajv: Ajv, schema: AnySchema): ValidateFunction {
  schemaAjv ??= new Ajv({ allErrors: true, strict: false })
  schemaAjv.validateSchema(schema, true)
  return ajv.compile(schema)
}

/** The path of a fault such as `event_types[0]`, from a JSON pointer and the field that is missing or unknown. */
export function formatFaultPath ({ instancePath, params }: { instancePath: string, params: Record<string, unknown> }): string {
  const steps = instancePath.split('/').slice(1).map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  const named = params.missingProperty ?? params.additionalProperty
  if (typeof named === 'string') steps.push(named)
  return steps.reduce((path, step) => /^\d+$/.test(step) ? `${path}[${step}]` : path === '' ? step : `${path}.${step}`, '')
}
