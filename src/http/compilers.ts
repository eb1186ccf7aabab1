import fastJsonStringify from 'fast-json-stringify'
import type { FastifyInstance, FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify'
import { compileHostSchema, compileSchema, keepCompiled } from '../shared/ajv.js'
import { createValidatorCompiler, type Validator } from './input/validation.js'

const compiled = keepCompiled<(value: unknown) => string>()

/** Compiles a serializer once per schema: all routes share the schemas of errors. */
const serializerCompiler: FastifySerializerCompiler<fastJsonStringify.Schema> = ({ schema }) => compiled(schema, () => fastJsonStringify(schema))

/**
 * Sets the compilers on each route, because Fastify drops those of a scope when the host adds a schema. An invalid schema
 * fails the registration.
 */
export function compileRoutes (scope: FastifyInstance, errorDetails: boolean): void {
  const validatorCompiler = createValidatorCompiler(compileHostSchema, errorDetails)
  scope.addHook('onRoute', (route) => { Object.assign(route, { validatorCompiler, serializerCompiler }) })
}

/** Compiles the API's own routes with their first request, so that a server starts sooner. Call it after `compileRoutes`. */
export function compileRoutesLate (scope: FastifyInstance, errorDetails: boolean): void {
  const compilers = {
    validatorCompiler: validateLate(createValidatorCompiler(compileSchema, errorDetails)),
    serializerCompiler: serializeLate
  }
  scope.addHook('onRoute', (route) => { Object.assign(route, compilers) })
}

function validateLate (compile: (part: Parameters<FastifySchemaCompiler<object>>[0]) => Validator): FastifySchemaCompiler<object> {
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

const serializeLate: typeof serializerCompiler = (part) => {
  let serialize: ((value: unknown) => string) | null = null
  return (value) => {
    serialize ??= serializerCompiler(part)
    return serialize(value)
  }
}
