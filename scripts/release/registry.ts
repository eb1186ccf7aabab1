import { once } from 'node:events'
import { type Server, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

/** The document that `npm publish` sends and `npm install` reads. */
interface Packument {
  name: string
  'dist-tags': Record<string, string>
  versions: Record<string, { dist: { tarball: string } }>
  _attachments?: Record<string, { data: string }>
}

/**
 * Starts an npm registry on the loopback. It stores published packages in memory and redirects other requests to
 * another registry.
 */
export async function startRegistry (upstream: string): Promise<{ url: string, server: Server }> {
  const packages = new Map<string, Packument>()
  const tarballs = new Map<string, Buffer>()
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', url)
    if (request.method === 'PUT') {
      publish(await json(request) as Packument)
      return response.writeHead(201, { 'content-type': 'application/json' }).end('{}')
    }
    const found = tarballs.get(pathname) ?? packages.get(pathname.slice(1))
    if (found instanceof Buffer) response.end(found)
    else if (found !== undefined) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(found))
    } else response.writeHead(307, { location: new URL(request.url?.slice(1) ?? '', upstream).href }).end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return { url, server }

  function publish ({ _attachments: attachments = {}, ...next }: Packument): void {
    const before = packages.get(next.name)
    const files = Object.values(attachments).map(({ data }) => Buffer.from(data, 'base64'))
    Object.entries(next.versions).forEach(([version, { dist }], index) => {
      const path = `/${next.name}/-/${next.name}-${version}.tgz`
      dist.tarball = new URL(path, url).href
      tarballs.set(path, files[index] ?? Buffer.alloc(0))
    })
    packages.set(next.name, {
      ...next,
      'dist-tags': { ...before?.['dist-tags'], ...next['dist-tags'] },
      versions: { ...before?.versions, ...next.versions }
    })
  }
}
