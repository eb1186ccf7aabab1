import { createMCPClient } from '@ai-sdk/mcp'
import t from 'tap'
import { bearer, keys } from '../../fixtures/api/app.js'
import type { OpenApi } from '../../fixtures/api/document.js'
import type { Page } from '../../fixtures/api/lists.js'
import { acme, connectMcp, listenMcp } from '../../fixtures/api/mcp.js'
import { operationRules } from '../../fixtures/api/operation-rules.js'

/** Counts the operations of the document that are tools: agents manage no keys and see no secrets. */
async function countTools (url: URL): Promise<number> {
  const { paths } = await (await fetch(new URL('/api/v1/public/openapi.json', url))).json() as OpenApi
  const hidden = Object.values(operationRules).filter(({ hints, returnsSecret }) => hints === null || returnsSecret)
  return Object.values(paths).flatMap((methods) => Object.keys(methods)).length - hidden.length
}

/** Reads all pages of a list. */
async function readAll (call: (given: object) => Promise<unknown>): Promise<number[]> {
  const ids: number[] = []
  let page = 1
  for (let pages = 1; page <= pages; page++) {
    const { structuredContent: { data, meta } } = await call({ per_page: 200, page }) as { structuredContent: Page }
    ids.push(...data.map(({ id }) => id))
    pages = meta.total_pages
  }
  return ids
}

for (const pin of [undefined, '2026-07-28']) {
  t.test(`the official client lists, calls and reads 10,000 candidates, with ${pin ?? 'the previous revision'}`, async (t) => {
    const url = await listenMcp(t)
    const client = await connectMcp(t, url, pin)
    t.match(client.getServerVersion(), { name: 'recruiting-api', title: 'Recruiting API', version: 'v1' })
    t.match(client.getInstructions(), 'The recruiting system of the company acme')
    const { tools } = await client.listTools()
    t.equal(tools.length, await countTools(url))
    const ids = await readAll((given) => client.callTool({ name: 'list_candidates', arguments: { ...given } }))
    t.strictSame(ids, acme.candidates.map(({ id }) => id))
    // The client validates the structured content of each result.
    for (const { name, inputSchema: { properties = {} } } of tools) {
      const given = Object.fromEntries(['id', 'delivery_id'].filter((argument) => argument in properties).map((argument) => [argument, 1]))
      await client.callTool({ name, arguments: given })
    }
    t.match(await client.listPrompts(), { prompts: [{ name: 'failures_this_week' }, { name: 'changes_since_yesterday' }] })
  })

  t.test(`a call without the scope fails with its status, with ${pin ?? 'the previous revision'}`, async (t) => {
    const url = await listenMcp(t)
    const client = await connectMcp(t, url, pin, keys.none)
    t.strictSame((await client.listTools()).tools.map(({ name }) => name), ['get_own_api_key'], 'which needs no scope')
    await t.rejects(client.callTool({ name: 'list_candidates' }), /forbidden|403/)
  })
}

t.test("the AI SDK's client lists, calls and reads 10,000 candidates", async (t) => {
  const url = await listenMcp(t)
  const client = await createMCPClient({ transport: { type: 'http', url: url.href, headers: bearer(keys.full) } })
  t.teardown(() => client.close())
  const tools = await client.tools()
  t.equal(Object.keys(tools).length, await countTools(url))
  const { list_candidates: list } = tools
  if (list === undefined) throw new Error('there is no tool for candidates')
  const ids = await readAll(async (given) => list.execute(given, { toolCallId: '1', messages: [] }))
  t.strictSame(ids, acme.candidates.map(({ id }) => id))
})
