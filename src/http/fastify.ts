import type { RouteOptions } from 'fastify'

/*
 * Everything that differs between Fastify 5 and 6, so that the rest of the code needs to know neither.
 */

/** The versions of Fastify that accept the plugin, with all pre-releases of 6.0.0. */
export const fastifyVersions = '5.x || ^6.0.0-0'

/** Adds serializers to the loggers of a route. Both versions have the option, but the types of 6 do not declare it. */
export function addLogSerializers (route: RouteOptions, serializers: object): void {
  const { logSerializers } = route as { logSerializers?: object }
  // Serializers from plugins of the host are inherited properties.
  Object.assign(route, { logSerializers: Object.assign(Object.create(logSerializers ?? null), logSerializers, serializers) })
}
