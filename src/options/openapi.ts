/** The option `openapi`: what the served document says of the vendor, in the place of the words it comes with. */
export interface OpenApiOptions {
  /** OpenAPI's Info Object; what is not given stays. */
  info?: OpenApiInfo
  /**
   * Where the API is reached, such as `{ url: 'https://api.example.com' }`; one at least.
   * @default the server that serves the document
   */
  servers?: readonly OpenApiServer[]
  /**
   * Whether the API's paths are also in the document that the host makes of its own routes with `@fastify/swagger`.
   * @default false
   */
  inHostDocument?: boolean
}

/** Who offers the API, and on what terms. */
export interface OpenApiInfo {
  /** @default `Recruiting API` */
  title?: string
  /** @default `v1` */
  version?: string
  /** Markdown. */
  description?: string
  /** A URL. */
  termsOfService?: string
  contact?: { name?: string, url?: string, email?: string }
  /** Of the API, not of this package; with an SPDX `identifier` or a `url`. */
  license?: { name: string, identifier?: string, url?: string }
}

/** A place where the API is reached. */
export interface OpenApiServer {
  /** The path of the host's own prefixes included, for paths of the document follow it. */
  url: string
  description?: string
}

/** `OpenApiOptions` with every default in place. */
export interface OpenApiSettings {
  info: OpenApiInfo
  servers: readonly OpenApiServer[]
  inHostDocument: boolean
}
