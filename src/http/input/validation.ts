import type { ErrorObject, ValidateFunction } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'
import { compileSchema, createAjv, formatFaultPath } from '../../shared/ajv.js'
import { type ErrorDetail, type HttpError, badRequest } from '../errors.js'
import { findFaults } from './faults.js'

interface Validator {
  (value: unknown): boolean
  /** Where Fastify looks after an answer of `false`. */
  errors?: ErrorObject[] | null
}

/**
 * Compiles the validators of the scope. What comes as text, the path and the query, is read as the schema says. One fault
 * is looked for, and several only where clients are told.
 */
export function createValidatorCompiler ({ errorDetails }: { errorDetails: boolean }): FastifySchemaCompiler<object> {
  const ajv = createAjv({ useDefaults: true })
  const thorough = errorDetails ? createAjv({ useDefaults: true, allErrors: true }) : null
  return ({ schema, httpPart }) => {
    const first = compileSchema(ajv, schema)
    const validate = thorough === null ? first : explain(first, compileSchema(thorough, schema))
    return httpPart === 'body' ? validate : readText(validate, integerFields(schema))
  }
}

/** A validator that finds more than the first fault. */
function explain (validateFirst: ValidateFunction, validateAll: ValidateFunction): Validator {
  const validate: Validator = (value) => {
    if (validateFirst(value)) return true
    // There is one after a refusal.
    const [first] = validateFirst.errors as [ErrorObject]
    validate.errors = findFaults(value, first, validateAll)
    return false
  }
  return validate
}

/** A validator of values that come as text. */
function readText (validate: Validator, integers: readonly string[]): Validator {
  const validateText: Validator = (values) => {
    readIntegers(values as Record<string, unknown>, integers)
    const isValid = validate(values)
    validateText.errors = validate.errors ?? null
    return isValid
  }
  return validateText
}

function integerFields ({ properties = {} }: { properties?: Record<string, { type?: unknown }> }): string[] {
  return Object.entries(properties).filter(([, { type }]) => type === 'integer').map(([name]) => name)
}

/** Decimal digits alone: what `Number` takes besides (`1e1`, `0x10`, ` 2`, `2.0`) stays text, and so a fault. */
function readIntegers (values: Record<string, unknown>, names: readonly string[]): void {
  for (const name of names) {
    const value = values[name]
    if (typeof value === 'string' && /^-?\d+$/.test(value)) values[name] = Number(value)
  }
}

const places: Record<string, ErrorDetail['in']> = { params: 'path', querystring: 'query' }

/** Turns the validator's faults into the error to answer with. */
export function toValidationError (errors: readonly ErrorObject[], httpPart: string): HttpError {
  return badRequest(...errors.map((error) => ({
    in: places[httpPart] ?? 'body',
    field: formatFaultPath(error),
    message: messageOf(error)
  })))
}

function messageOf ({ keyword, params, message = 'is not valid', parentSchema }: ErrorObject): string {
  if (keyword === 'required') return 'is required'
  if (keyword === 'additionalProperties') return 'is not known'
  if (keyword === 'enum') return `must be one of ${params.allowedValues.join(', ')}`
  // A pattern says nothing to most people; what it means does.
  if (keyword === 'pattern' && parentSchema?.description) return `must be ${parentSchema.description}`
  return message
}
