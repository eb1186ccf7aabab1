import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify'
import type { Ajv, ErrorObject, ValidateFunction } from 'ajv'
import fastJsonStringify from 'fast-json-stringify'
import { decodePart, findJsonFault, isStorableText, normalizeInstant } from '../shared/text.js'
import { mapValues } from '../shared/fields.js'
import { badRequest, type ErrorDetail, type HttpError } from './wire-errors.js'
import { findState } from './request.js'
import {
  compileHostSchema, compileSchema, createAjv, describeFault, formatFaultPath, keepCompiled
} from '../shared/ajv.js'

/** A query without encoded characters. Lenient HTTP parsers accept more than visible ASCII, in an unknown encoding. */
const plainQuery = /^[!-$&-*,-~]*$/
const encodedText = /^[!-~]*$/

/**
 * Parses the query of the raw URL, ignoring the host's query parser. Throws a 400 for repeated parameters and invalid
 * encoding, because ignoring them would return wrong data.
 */
export function parseQuery (url: string): Record<string, unknown> {
  const values: Record<string, string> = {}
  const start = url.indexOf('?')
  if (start === -1) return values
  const query = url.slice(start + 1)
  const isPlain = plainQuery.test(query)
  for (const pair of query.split('&')) {
    if (pair === '') continue
    const end = pair.indexOf('=')
    const name = end === -1 ? pair : pair.slice(0, end)
    const value = end === -1 ? '' : pair.slice(end + 1)
    if (isPlain) addValue(values, name, value)
    else addValue(values, decode(name), decode(value))
  }
  return values
}

function addValue (values: Record<string, string>, name: string, value: string): void {
  if (name === '__proto__') throw badRequest({ in: 'query', field: name, message: 'is not known' })
  if (Object.hasOwn(values, name)) throw badRequest({ in: 'query', field: name, message: 'is given more than once' })
  values[name] = value
}

function decode (text: string): string {
  const decoded = encodedText.test(text) ? decodePart(text.replaceAll('+', ' ')) : null
  if (decoded === null || !isStorableText(decoded)) {
    throw badRequest({ in: 'query', field: '', message: 'contains text that is not percent-encoded UTF-8, or a NUL' })
  }
  return decoded
}

const maxSearchLength = 200

/** Converts the valid value of a filter; `undefined` for no filter. Throws a 400 for a value out of range. */
export function parseFilter (parameter: string, format: unknown, value: unknown): unknown {
  if (typeof value !== 'string') return value
  if (parameter === 'filter[q]') return parseSearch(value)
  return format === 'date-time' ? parseDateTime(parameter, value) : value
}

/** Trims `filter[q]`; blank text counts as absent. Throws a 400 for more than 200 characters. */
export function parseSearch (text: string | undefined): string | undefined {
  const trimmed = text?.trim()
  if (trimmed === undefined || trimmed === '') return undefined
  if ([...trimmed].length > maxSearchLength) {
    throw badRequest({ in: 'query', field: 'filter[q]', message: `must be at most ${maxSearchLength} characters` })
  }
  return trimmed
}

/** Converts a date-time to UTC with milliseconds. Throws a 400 for a date out of range. */
export function parseDateTime (field: string, text: string): string {
  const instant = normalizeInstant(text)
  if (instant !== null) return instant
  throw badRequest({
    in: 'query',
    field,
    message: 'must be a date-time of the years 1 to 9999, such as 2030-01-01T00:00:00Z'
  })
}

const bodyLimit = 64 * 1024

/**
 * Makes the scope accept only JSON bodies, regardless of the host's parsers. Until the API reads the parsed body,
 * `request.body` is the text, so that host hooks cannot change it.
 */
export function isolateBodyParser (scope: FastifyInstance): void {
  const parseJson = scope.getDefaultJsonParser('error', 'error')
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('application/json', { parseAs: 'buffer', bodyLimit }, (request, body: Buffer, done) => {
    if (body.length === 0) return done(null, undefined)
    if (!isUtf8(body)) return done(unreadable({ message: 'is not encoded as UTF-8' }))
    const text = body.toString().replace(/^\uFEFF/, '')
    return parseJson(request, text, (error, value) => {
      // A parser's message quotes the body, so it must not be logged.
      if (error !== null) return done(unreadable({ message: 'is not valid JSON' }))
      const fault = findJsonFault(value)
      if (fault !== null) return done(unreadable(fault))
      const state = findState(request)
      if (state !== null) state.body = value
      done(null, text)
    })
  })
}

function unreadable ({ field = '', message }: { field?: string, message: string }): Error {
  return badRequest({ in: 'body', field, message })
}

/** Limits the length of the response. */
const maxFaults = 20

/** Limits the search: a body of 64 KiB can have 32,000 faults. */
const maxValues = 2000
// The longest list that an operation accepts.
const maxItems = 100

/** Returns up to 20 faults of a value, starting with the known first one. Checks only a sample of large values. */
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
  return mapValues({ ...value }, (member) => takeSample(member, budget))
}

function nameOf (fault: ErrorObject): string {
  return `${fault.keyword} ${formatFaultPath(fault)}`
}

/** Validates a part of a request. Returns the faults for Fastify. */
type Validator = (value: unknown) => { error?: ErrorObject[] }

type CompileValidator = (part: { schema: object, httpPart?: string }) => Validator

/** The compilers of a route. Fastify drops those of a scope when the host adds a schema. */
export interface Compilers {
  validatorCompiler: FastifySchemaCompiler<object>
  serializerCompiler: FastifySerializerCompiler<object>
}

const compiled = keepCompiled<(value: unknown) => string>()

/** Compiles a serializer once per schema, because all routes share the error schemas. */
const serializerCompiler: Compilers['serializerCompiler'] = ({ schema }) => compiled(schema, () => {
  return fastJsonStringify(schema as fastJsonStringify.Schema)
})

/** Returns compilers for host schemas. Registration fails if one is invalid. */
export function createCompilers (errorDetails: boolean): Compilers {
  return { validatorCompiler: createValidatorCompiler(compileHostSchema, errorDetails), serializerCompiler }
}

/** Returns compilers for the API's own schemas. They compile on the first request, so that the server starts sooner. */
export function createLateCompilers (errorDetails: boolean): Compilers {
  return {
    validatorCompiler: validateLate(createValidatorCompiler(compileSchema, errorDetails)),
    serializerCompiler: serializeLate
  }
}

function validateLate (compile: CompileValidator): FastifySchemaCompiler<object> {
  return (part) => {
    let validate: Validator | null = null
    return (value) => {
      validate ??= compile(part)
      return validate(value)
    }
  }
}

const serializeLate: Compilers['serializerCompiler'] = (part) => {
  let serialize: ((value: unknown) => string) | null = null
  return (value) => {
    serialize ??= serializerCompiler(part)
    return serialize(value)
  }
}

/** Returns a compiler of validators, which read typed values from text, and stop early without `errorDetails`. */
function createValidatorCompiler (compile: typeof compileSchema, errorDetails: boolean): CompileValidator {
  // Created with the first schema, because the API's own routes compile on their first request.
  let ajv: Ajv | null = null
  let thorough: Ajv | null = null
  return ({ schema: given, httpPart }) => {
    const schema = httpPart === 'headers' ? lowerNames(given) : given
    ajv ??= createAjv({ useDefaults: true })
    const validate = compile(ajv, schema)
    if (errorDetails) thorough ??= createAjv({ useDefaults: true, allErrors: true })
    const validateAll = thorough && compile(thorough, schema)
    const typed = httpPart === 'body' ? [] : typedFields(schema)
    return (value) => {
      for (const field of typed) readTyped(value as Record<string, unknown>, field)
      if (validate(value)) return valid
      const [first] = validate.errors as [ErrorObject]
      return { error: validateAll === null ? [first] : findFaults(value, first, validateAll) }
    }
  }
}

const valid = {}

/** Returns a schema of headers with names as Node reads them. Fastify does the same only without a custom compiler. */
function lowerNames (schema: { properties?: object, required?: readonly string[] }): object {
  const { properties = {}, required = [] } = schema
  return {
    ...schema,
    properties: Object.fromEntries(Object.entries(properties).map(([name, value]) => [name.toLowerCase(), value])),
    required: required.map((name) => name.toLowerCase())
  }
}

/**
 * Converts the text of a value of each type. Numbers are decimal digits: others that `Number` accepts (`1e1`, `0x10`,
 * ` 2`, `2.0`) remain text and are rejected, as are all other texts.
 */
const textReaders: Record<string, (text: string) => unknown> = {
  integer: (text) => /^-?\d+$/.test(text) ? Number(text) : text,
  boolean: (text) => text === 'true' || (text === 'false' ? false : text),
  object (text) {
    try {
      const value: unknown = JSON.parse(text)
      return findJsonFault(value) === null ? value : text
    } catch {
      return text
    }
  }
}

type TypedField = [name: string, read: (text: string) => unknown]

function typedFields ({ properties = {} }: { properties?: Record<string, { type?: unknown }> }): TypedField[] {
  return Object.entries(properties).flatMap(([name, { type }]) => {
    const read = textReaders[String(type)]
    return read === undefined ? [] : [[name, read]]
  })
}

function readTyped (values: Record<string, unknown>, [name, read]: TypedField): void {
  const value = values[name]
  if (typeof value === 'string') values[name] = read(value)
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
