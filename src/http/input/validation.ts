import type { ErrorObject, ValidateFunction } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'
import { compileSchema, createAjv, describeFault, formatFaultPath } from '../../shared/ajv.js'
import { type ErrorDetail, type HttpError, badRequest } from '../wire-errors.js'
import { findFaults } from './faults.js'

interface Validator {
  (value: unknown): boolean
  /** Fastify reads the faults here after `false`. */
  errors?: ErrorObject[] | null
}

/**
 * Creates the scope's validator compiler. Integers in path and query are converted from text. Validation stops at the first
 * fault, unless clients see the details.
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

/** Returns a validator that reports more than the first fault. */
function explain (validateFirst: ValidateFunction, validateAll: ValidateFunction): Validator {
  const validate: Validator = (value) => {
    if (validateFirst(value)) return true
    const [first] = validateFirst.errors as [ErrorObject]
    validate.errors = findFaults(value, first, validateAll)
    return false
  }
  return validate
}

/** Returns a validator of values that arrive as text. */
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

/** Converts decimal digits only. Other numbers that `Number` accepts (`1e1`, `0x10`, ` 2`, `2.0`) stay text and are refused. */
function readIntegers (values: Record<string, unknown>, names: readonly string[]): void {
  for (const name of names) {
    const value = values[name]
    if (typeof value === 'string' && /^-?\d+$/.test(value)) values[name] = Number(value)
  }
}

const places: Record<string, ErrorDetail['in']> = { params: 'path', querystring: 'query' }

/** Converts the validator's faults to a 400. */
export function toValidationError (errors: readonly ErrorObject[], httpPart: string): HttpError {
  return badRequest(...errors.map((error) => ({
    in: places[httpPart] ?? 'body',
    field: formatFaultPath(error),
    message: describeFault(error)
  })))
}
