import { readFile, readdir } from 'node:fs/promises'
import { extname } from 'node:path'
import type { FastifyPluginAsync } from 'fastify'

const folder = new URL('../page/', import.meta.url)
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml'
}

/** Serves the page's files on separate routes: no request path reaches the file system. */
export const pageFiles: FastifyPluginAsync = async (app) => {
  for (const file of await readdir(folder, { recursive: true })) {
    const type = types[extname(file)]
    if (type === undefined) continue
    const path = file.replaceAll('\\', '/')
    for (const url of path === 'index.html' ? ['/', '/index.html'] : [`/${path}`]) {
      app.get(url, async (_request, reply) => {
        // The browser loads nothing from other hosts.
        reply.header('content-security-policy', "default-src 'self'").header('cache-control', 'no-cache').type(type)
        return readFile(new URL(path, folder))
      })
    }
  }
}
