import { once } from 'node:events'
import t from 'tap'
import { createDocsServer } from '../../scripts/docs/server.js'
import { listPages } from '../../scripts/tables/pages.js'

t.test('npm run docs lists every page for its menu and its search, and shows nothing but the pages and what they link to', async (t) => {
  const docsify = t.testdir({ dist: { 'docsify.min.js': 'built' }, 'package.json': '{}' })
  const server = await createDocsServer(`${docsify}/dist`)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as { port: number }
  const get = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${port}${path}`)
  const read = async (path: string): Promise<string> => (await get(path)).text()

  const [index, menu] = [await read('/'), await read('/docs/_sidebar.md')]
  const routes = [...menu.matchAll(/^- \[.+\]\((.*)\.md\)$/gm)].map(([, route = '']) => route)
  t.equal(routes.length, (await listPages()).length)
  t.match(index, `"paths":${JSON.stringify(routes)}`)
  for (const route of routes) t.match(await read(`${route}.md`), /^# /, route)
  t.equal(await read('/docsify/docsify.min.js'), 'built')
  t.match(await read('/examples/grafana'), 'alerts.yaml', 'the names in a folder')
  for (const path of ['/package.json', '/docs/%2e%2e%2fpackage.json', '/docsify/..%2fpackage.json', '/docs/none.md', '/docs-other']) t.equal((await get(path)).status, 404, path)
})
