import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

/**
 * Returns the folder of this package, in which its files are. Throws if the package is part of a bundle and is not
 * installed.
 */
export function packageFolder (): URL {
  const file = createRequire(import.meta.url).resolve('fastify-recruiting-api/package.json')
  return new URL('.', pathToFileURL(file))
}
