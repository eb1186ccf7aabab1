import type { OpenApiSettings } from '../http/settings.js'
import { expect } from '../shared/expect.js'
import { type Readers, expectObject, flag, optional, properties, readOptions, text } from '../shared/read-options.js'

/** The option `openapi`: texts about the vendor that replace the defaults of the served document. */
export interface OpenApiOptions {
  /** OpenAPI's Info Object. Fields that are absent keep their default. */
  info?: OpenApiInfo
  /**
   * The addresses of the API, such as `{ url: 'https://api.example.com' }`; at least one.
   * @default `publicUrl`, otherwise the server that serves the document
   */
  servers?: readonly OpenApiServer[]
  /**
   * Whether the API's paths are also in the document that `@fastify/swagger` creates for the host.
   * @default false
   */
  inHostDocument?: boolean
}

/** Who offers the API, and under which terms. */
export interface OpenApiInfo {
  /** The name of the API. @default `Recruiting API` */
  title?: string
  /** The version of the document. @default `v1` */
  version?: string
  /** The purpose of the API, in Markdown. @default a text about the API */
  description?: string
  /** The URL of the terms of service. */
  termsOfService?: string
  /** The contact: `name`, `url` and `email`, each optional. @default { name: 'The vendor of your applicant tracking system' } */
  contact?: { name?: string, url?: string, email?: string }
  /** The license of the API, not of this package: a `name`, with an SPDX `identifier` or a `url`. */
  license?: { name: string, identifier?: string, url?: string }
}

/** An address of the API. */
export interface OpenApiServer {
  /** The server's URL, with the prefixes of the host: the document's paths are relative to it. */
  url: string
  /** Which server it is, such as `Production`. */
  description?: string
}

/** Returns the settings of the document, `null` if it is not served. Throws `invalid_option`. */
export function readOpenApi (value: unknown = true, path: string): OpenApiSettings | null {
  if (value === false) return null
  const options = value === true ? {} : value
  expectObject(options, path, 'a boolean or an object')
  return readOptions(options, openApiReaders, path)
}

const readInfo = properties({
  title: optional(text),
  version: optional(text),
  description: optional(text),
  termsOfService: optional(text),
  contact: optional(properties({ name: optional(text), url: optional(text), email: optional(text) })),
  license: optional(properties({ name: text, identifier: optional(text), url: optional(text) }))
} satisfies Readers<Record<keyof OpenApiInfo, unknown>>)

const readServer = properties({ url: text, description: optional(text) } satisfies Readers<Record<keyof OpenApiServer, unknown>>)

function readServers (servers: unknown, path: string): readonly object[] | null {
  if (servers === undefined) return null
  expect(Array.isArray(servers) && servers.length > 0, path, 'an array of at least one server', servers)
  return servers.map((server, index) => readServer(server, `${path}[${index}]`))
}

/** The default and the check of each option. */
const openApiReaders: Readers<OpenApiSettings> = {
  info: (info = {}, path) => readInfo(info, path),
  servers: readServers,
  inHostDocument: flag(false)
} satisfies Readers<Pick<OpenApiSettings, keyof OpenApiOptions>>
