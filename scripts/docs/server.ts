import { readFile, readdir } from 'node:fs/promises'
import { type Server, createServer } from 'node:http'
import { extname, join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { listPages } from '../tables/pages.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const types: Record<string, string> = { '.css': 'text/css', '.html': 'text/html', '.js': 'text/javascript', '.png': 'image/png' }
/** Files that pages link to. */
const shown = ['docs', 'examples', 'README.md', 'CHANGELOG.md', 'SECURITY.md', 'openapi.json'].map((path) => resolve(root, path))

/** Shows the pages in a browser, with search. `docsify` is the folder with its built files. */
export async function createDocsServer (docsify: string): Promise<Server> {
  const pages = await listPages()
  const routes = pages.map((page) => `/${fileURLToPath(page).slice(root.length).replace('.md', '')}`)
  const titles = await Promise.all(pages.map(async (page) => (await readFile(page, 'utf8')).replace(/\n[^]*$/, '').slice('# '.length)))
  const sidebar = routes.map((route, index) => `- [${titles[index]}](${route}.md)`).join('\n')

  async function read (path: string): Promise<string | Buffer> {
    if (path === '/') return writeIndex(routes)
    if (path.endsWith('/_sidebar.md')) return sidebar
    if (path.startsWith('/docsify/')) return readFile(join(docsify, path.slice('/docsify/'.length)))
    const file = resolve(root, `.${path}`)
    if (!shown.some((allowed) => file === allowed || file.startsWith(allowed + sep))) throw new Error('not shown')
    return readFile(file).catch(async () => (await readdir(file)).join('\n'))
  }

  return createServer((request, response) => {
    // URL resolves dots, and decodeURI leaves encoded slashes, so no path leaves its folder.
    const path = decodeURI(new URL(String(request.url), 'http://localhost').pathname)
    read(path).then(
      (content) => { response.writeHead(200, { 'content-type': `${types[extname(path) || '.html'] ?? 'text/plain'}; charset=utf-8` }).end(content) },
      () => { response.writeHead(404).end() })
  })
}

function writeIndex (routes: readonly string[]): string {
  const settings = {
    name: 'fastify-recruiting-api',
    homepage: 'docs/README.md',
    loadSidebar: true,
    subMaxLevel: 2,
    relativePath: true,
    auto2top: true,
    // Everything but pages is served unchanged.
    noCompileLinks: ['(?!.*\\.md(#.*)?$)(?!#).*'],
    search: { paths: routes, depth: 3, maxAge: 1 }
  }
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>fastify-recruiting-api</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docsify/themes/core.min.css">
<div id="app"></div>
<script>window.$docsify = ${JSON.stringify(settings)}</script>
<script src="/docsify/docsify.min.js"></script>
<script src="/docsify/plugins/search.min.js"></script>
`
}
