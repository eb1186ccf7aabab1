import { expect, expectNames } from '../shared/expect.js'
import { omitUndefined } from '../shared/omit-undefined.js'
import type { OpenApiInfo, OpenApiOptions, OpenApiServer, OpenApiSettings } from './openapi.js'

const optionNames = { info: true, servers: true, inHostDocument: true } satisfies Record<keyof OpenApiOptions, true>
const infoNames = {
  title: true, version: true, description: true, termsOfService: true, contact: true, license: true
} satisfies Record<keyof OpenApiInfo, true>
const contactNames = { name: true, url: true, email: true } satisfies Record<keyof NonNullable<OpenApiInfo['contact']>, true>
const licenseNames = { name: true, identifier: true, url: true } satisfies Record<keyof NonNullable<OpenApiInfo['license']>, true>
const serverNames = { url: true, description: true } satisfies Record<keyof OpenApiServer, true>

/** Checks the option `openapi`; `null` if the document is not served. Throws `invalid_option`. */
export function resolveOpenApi (openapi: boolean | OpenApiOptions): OpenApiSettings | null {
  if (openapi === false) return null
  const options = openapi === true ? {} : openapi
  assertObject(options, 'openapi', 'a boolean or an object')
  expectNames(options, optionNames, 'openapi.')
  const { info = {}, servers = defaultServers, inHostDocument = false } = options
  assertInfo(info)
  expect(Array.isArray(servers) && servers.length > 0, 'openapi.servers', 'an array of at least one server', servers)
  servers.forEach((server, index) => assertTexts(server, `openapi.servers[${index}]`, serverNames, 'url'))
  expect(typeof inHostDocument === 'boolean', 'openapi.inHostDocument', 'a boolean', inHostDocument)
  return { info: omitUndefined(info), servers, inHostDocument }
}

const defaultServers = [{ url: '/', description: 'Where this document is served' }]

function assertInfo (info: OpenApiInfo): void {
  assertObject(info, 'openapi.info', 'an object')
  const { contact, license, ...texts } = info
  assertTexts(texts, 'openapi.info', infoNames)
  if (contact !== undefined) assertTexts(contact, 'openapi.info.contact', contactNames)
  if (license !== undefined) assertTexts(license, 'openapi.info.license', licenseNames, 'name')
}

/** An object of texts, none of them empty; only the one that is `required` must be there. */
function assertTexts (value: object, path: string, names: object, required = ''): void {
  assertObject(value, path, 'an object')
  expectNames(value, names, `${path}.`)
  const texts: Record<string, unknown> = { ...value }
  for (const name of Object.keys(names)) {
    const text = texts[name]
    const isAbsent = text === undefined && name !== required
    expect(isAbsent || (typeof text === 'string' && text !== ''), `${path}.${name}`, 'text', text)
  }
}

function assertObject (value: unknown, path: string, expected: string): void {
  expect(typeof value === 'object' && value !== null && !Array.isArray(value), path, expected, value)
}
