import type { FastifyContextConfig, FastifyPluginAsync, RouteOptions } from 'fastify'

/** All capabilities of portal sessions; every session has `read`. */
export const capabilities = ['read', 'write', 'secrets', 'bodies', 'test', 'replay', 'keys'] as const

/** A capability of a portal session. */
export type PortalCapability = typeof capabilities[number]

/** The parts of a route that determine who can use it. */
export interface DeclaredRoute {
  config?: FastifyContextConfig | undefined
  method: RouteOptions['method']
}

/** Returns the capabilities that a session needs for a route. By default, everything but reading needs `write`. */
export function requiredCapabilities ({ config, method }: DeclaredRoute): readonly PortalCapability[] {
  const isReading = [method].flat().every((name) => name === 'GET' || name === 'HEAD')
  return config?.capabilities ?? [isReading ? 'read' : 'write']
}

export interface Session {
  /** The portal user. */
  actor: string
  capabilities: readonly PortalCapability[]
}

/** The session of a token that was not yet compared with the request's tenant. */
interface OpenedSession extends Session {
  /** Returns whether the session belongs to this tenant. */
  isOf (tenantId: string): boolean
}

/** Opens session tokens, which are sent instead of an API key. */
export interface SessionOpener {
  /** Returns whether this is a token. Tokens never reach the key lookup, even invalid ones. */
  isToken (key: string): boolean
  /** Returns the session; `null` unless the token is valid. */
  open (token: string): OpenedSession | null
}

export interface Portal {
  sessions: SessionOpener
  /** Serves the page below the prefix. Its routes get `config`. */
  pages: FastifyPluginAsync<{ config: object }>
}
