import type { Ajv, ErrorObject, ValidateFunction } from 'ajv'
import fastJsonStringify from 'fast-json-stringify'
import type { FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify'
import {
  compileHostSchema, compileSchema, createAjv, describeFault, formatFaultPath, keepCompiled
} from '../../shared/ajv.js'
import { badRequest, type ErrorDetail, type HttpError } from '../wire-errors.js'

/** Limits the length of the response. */
const maxFaults = 20

/** Limit the search: a body of 64 KiB can have 32,000 faults. */
const maxValues = 2000
// The longest list that an operation takes: the last of its items may be wrong.
const maxItems = 100

/** Returns up to 20 faults of a value whose first fault is known. Checks only a sample of large values. */
function findFaults (value: unknown, first: ErrorObject, validateAll: ValidateFunction): ErrorObject[] {
  const budget = { left: maxValues }
  const sample = takeSample(value, budget)
  if (budget.left < 0 || validateAll(sample)) return [first]
  const faults = validateAll.errors as ErrorObject[]
  return [first, ...faults.filter((fault) => nameOf(fault) !== nameOf(first))].slice(0, maxFaults)
}

/** Copies a value with only the first items of its arrays. */
function takeSample (value: unknown, budget: { left: number }): unknown {
  budget.left--
  if (budget.left < 0 || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.slice(0, maxItems).map((item) => takeSample(item, budget))
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, takeSample(member, budget)]))
}

function nameOf (fault: ErrorObject): string {
  return `${fault.keyword} ${formatFaultPath(fault)}`
}

/** The function that Fastify calls to validate a part of a request. */
interface Validator {
  (value: unknown): boolean
  /** Fastify reads the faults here after `false`. */
  errors?: ErrorObject[] | null
}

type CompileValidator = (part: { schema: object, httpPart?: string }) => Validator

/** Compilers of a route, because Fastify drops those of a scope when the host adds a schema. */
export interface Compilers {
  validatorCompiler: FastifySchemaCompiler<object>
  serializerCompiler: FastifySerializerCompiler<object>
}

const compiled = keepCompiled<(value: unknown) => string>()

/** Compiles a serializer once per schema: all routes share the schemas of errors. */
const serializerCompiler: Compilers['serializerCompiler'] = ({ schema }) => compiled(schema, () => {
  return fastJsonStringify(schema as fastJsonStringify.Schema)
})

/** Returns compilers for schemas of the host. An invalid one fails the registration. */
export function createCompilers (errorDetails: boolean): Compilers {
  return { validatorCompiler: createValidatorCompiler(compileHostSchema, errorDetails), serializerCompiler }
}

/** Returns compilers for the API's schemas, which compile with the first request, so that a server starts sooner. */
export function createLateCompilers (errorDetails: boolean): Compilers {
  return {
    validatorCompiler: validateLate(createValidatorCompiler(compileSchema, errorDetails)),
    serializerCompiler: serializeLate
  }
}

function validateLate (compile: CompileValidator): FastifySchemaCompiler<object> {
  return (part) => {
    let validate: Validator | null = null
    const late: Validator = (value) => {
      validate ??= compile(part)
      const isValid = validate(value)
      late.errors = validate.errors ?? null
      return isValid
    }
    return late
  }
}

const serializeLate: Compilers['serializerCompiler'] = (part) => {
  let serialize: ((value: unknown) => string) | null = null
  return (value) => {
    serialize ??= serializerCompiler(part)
    return serialize(value)
  }
}

/**
 * Creates the validator compiler of routes. Integers in path and query are converted from text. Validation stops at
 * the first fault, unless clients see the details.
 */
function createValidatorCompiler (compile: typeof compileSchema, errorDetails: boolean): CompileValidator {
  // Created with the first schema: the API's own routes are compiled with their first request.
  let ajv: Ajv | null = null
  let thorough: Ajv | null = null
  return ({ schema, httpPart }) => {
    ajv ??= createAjv({ useDefaults: true })
    const first = compile(ajv, schema)
    if (errorDetails) thorough ??= createAjv({ useDefaults: true, allErrors: true })
    const validate = thorough === null ? first : explain(first, compile(thorough, schema))
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

/**
 * Converts decimal digits only. Other numbers that `Number` accepts (`1e1`, `0x10`, ` 2`, `2.0`) stay text and are
 * rejected.
 */
function readIntegers (values: Record<string, unknown>, names: readonly string[]): void {
  for (const name of names) {
    const value = values[name]
    if (typeof value === 'string' && /^-?\d+$/.test(value)) values[name] = Number(value)
  }
}

const places: Record<string, ErrorDetail['in']> = { params: 'path', querystring: 'query', headers: 'header' }

/** Converts the validator's faults to a 400. */
export function toValidationError (errors: readonly ErrorObject[], httpPart: string): HttpError {
  return badRequest(...errors.map((error) => ({
    in: places[httpPart] ?? 'body',
    field: formatFaultPath(error),
    message: describeFault(error)
  })))
}
