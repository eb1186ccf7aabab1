import type { FastifyContextConfig, FastifyPluginAsync, RouteOptions } from 'fastify'

/** Everything that a session of the portal can be allowed; every session may `read`. */
export const capabilities = ['read', 'write', 'secrets', 'bodies', 'test', 'replay', 'keys'] as const

/** Something that a session of the portal may do. */
export type PortalCapability = typeof capabilities[number]

/** The part of a route that says who may use it. */
export interface DeclaredRoute {
  config?: FastifyContextConfig | undefined
  method: RouteOptions['method']
}

/**
 * Returns the capabilities that a session needs for a route. Without a declaration everything but reading needs
 * `write`.
 */
export function requiredCapabilities ({ config, method }: DeclaredRoute): readonly PortalCapability[] {
  const isReading = [method].flat().every((name) => name === 'GET' || name === 'HEAD')
  return config?.capabilities ?? [isReading ? 'read' : 'write']
}

/** A valid session. */
export interface Session {
  /** Who uses the portal. */
  actor: string
  capabilities: readonly PortalCapability[]
}

/** A session of a token that was not yet compared with the tenant of a request. */
export interface OpenedSession extends Session {
  /** Returns whether the session is this tenant's. */
  isOf (tenantId: string): boolean
}

/** Opens session tokens, which are sent in place of an API key. */
export interface SessionOpener {
  /** Returns whether this is a token. Tokens never reach the key lookup, whether they are valid or not. */
  isToken (key: string): boolean
  /** Returns the session; `null` unless the token is valid now. */
  open (token: string): OpenedSession | null
}

/** The parts of the portal that the API mounts. */
export interface Portal {
  sessions: SessionOpener
  /** Serves the page, below the prefix; `config` is for its routes. */
  pages: FastifyPluginAsync<{ config: object }>
}
