import {
  type OptionsOf,
  type Reader,
  type SettingsOf,
  flag,
  list,
  optional,
  properties,
  switchable,
  text
} from '../../shared/read-options.js'

/** OpenAPI's Contact Object. */
const contact: Reader<object, { name?: string, url?: string, email?: string }> =
  properties({ name: optional(text), url: optional(text), email: optional(text) })

/** OpenAPI's License Object. */
const license: Reader<object, { name: string, identifier?: string, url?: string }> =
  properties({ name: text, identifier: optional(text), url: optional(text) })

/** The doc, type and check of each text; those that are absent keep their default. */
const infoOptions = {
  /** The name of the API. @default `Recruiting API` */
  title: optional(text),
  /** The version of the document. @default `v1` */
  version: optional(text),
  /** The purpose of the API, in Markdown. @default a text about the API */
  description: optional(text),
  /** The URL of the terms of service. */
  termsOfService: optional(text),
  /**
   * The contact: `name`, `url` and `email`, each optional. @default { name: 'The vendor of your applicant tracking
   * system' }
   */
  contact: optional(contact),
  /** The license of the API, not of this package: a `name`, with an SPDX `identifier` or a `url`. */
  license: optional(license)
}

/** Who offers the API, and under which terms. */
export interface OpenApiInfo extends OptionsOf<typeof infoOptions> {}

const info: Reader<object, OpenApiInfo> = properties(infoOptions)

/** An address of the API. */
export interface OpenApiServer {
  /** The server's URL, with the prefixes of the host: the document's paths are relative to it. */
  url: string
  /** Which server it is, such as `Production`. */
  description?: string
}

const server: Reader<object, OpenApiServer> = properties({ url: text, description: optional(text) })

/** The doc, type, default and check of each option. */
const openApiOptions = {
  /** OpenAPI's Info Object. Fields that are absent keep their default. */
  info: (value: OpenApiInfo = {}, path: string) => info(value, path),
  /**
   * The addresses of the API, such as `{ url: 'https://api.example.com' }`; at least one.
   * @default `publicUrl`, otherwise the server that serves the document
   */
  servers: list(server, 'an array of at least one server', { minimum: 1 }),
  /**
   * Whether the API's paths are also in the document that `@fastify/swagger` creates for the host.
   * @default false
   */
  inHostDocument: flag(false)
}

/** The option `openapi`: texts about the vendor that replace the defaults of the served document. */
export interface OpenApiOptions extends OptionsOf<typeof openApiOptions> {}

/** The settings of the document: checked options with their defaults. */
export interface OpenApiSettings extends SettingsOf<typeof openApiOptions> {}

/** Returns the settings of the document, `null` if it is not served. Throws `invalid_option`. */
export const readOpenApi: Reader<OpenApiSettings | null, boolean | OpenApiOptions> = switchable(openApiOptions, true)
