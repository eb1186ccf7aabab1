import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { memoryStorage } from '../../src/storages/memory/index.js'
import { checkError } from '../fixtures/api/answers.js'
import { bearer, buildApp, keys, tenants } from '../fixtures/api/app.js'
import { captureLogs } from '../fixtures/api/logs.js'
import { fetchPage, parseLinks, requestList, storeItems } from '../fixtures/api/lists.js'
import { watchRejections } from '../fixtures/delivery/rejections.js'
import { spyStorage } from '../fixtures/delivery/spy-storage.js'
import { sendRaw } from '../fixtures/receivers/raw-http.js'

const request = { url: '/api/v1/public/acme/candidates', headers: bearer(keys.full) }

t.test('a page and its total are requested concurrently, the total first', async (t) => {
  const storage = memoryStorage({ tenants })
  const asked: string[] = []
  let answer = (): void => {}
  const bothAsked = new Promise<void>((resolve) => { answer = resolve })
  for (const method of ['list', 'count'] as const) {
    const real = storage.candidates[method].bind(storage.candidates) as (...args: unknown[]) => Promise<unknown>
    Object.assign(storage.candidates, {
      [method]: async (...args: unknown[]) => {
        if (asked.push(method) === 2) answer()
        await bothAsked
        return real(...args)
      }
    })
  }
  const app = await buildApp(t, { storage })
  const { statusCode } = await app.inject(request)
  t.equal(statusCode, 200)
  t.same(asked, ['count', 'list'])
})

const failures: Record<string, (error: Error) => Promise<never>> = {
  'throws immediately': (error) => { throw error },
  'rejects immediately': (error) => Promise.reject(error),
  'rejects later': async (error) => {
    await setImmediate()
    throw error
  }
}

t.test('if a page and its total both fail, the response is 500, one error is logged and no rejection is unhandled', async (t) => {
  const unhandled = watchRejections(t)
  for (const [pageFails, failPage] of Object.entries(failures)) {
    for (const [totalFails, failTotal] of Object.entries(failures)) {
      const logs = captureLogs()
      const storage = memoryStorage({ tenants })
      storage.candidates.list = () => failPage(new Error('no page'))
      storage.candidates.count = () => failTotal(new Error('no total'))
      const app = await buildApp(t, { storage, server: { logger: logs.logger } })
      const what = `the page ${pageFails}, the total ${totalFails}`
      checkError(t, await app.inject(request), 500, what)
      t.same(logs.lines.filter(({ level }) => level === 50).map(({ err }) => err?.message), ['no page'], what)
    }
  }
  await setImmediate()
  t.same(unhandled, [])
})

t.test('a page reaches the storage as an offset and a limit', async (t) => {
  const { storage, calls } = spyStorage()
  const app = await buildApp(t, { storage })
  await fetchPage(app, 'candidates', 'page=2147483647&per_page=200')
  const page = { filter: {}, sort: [{ field: 'id', direction: 'asc' }], offset: 429496729200, limit: 200 }
  t.match(calls, [{ method: 'candidates.count', args: ['acme', {}] }, { method: 'candidates.list', args: ['acme', page] }])
})

/** Returns the pages that a response links to. */
function pagesOf (links: Record<string, string> | null): Record<string, string | null> {
  return Object.fromEntries(Object.entries(links ?? {}).map(([relation, target]) => {
    return [relation, new URL(target, 'http://localhost').searchParams.get('page')]
  }))
}

// Ten candidates, three per page: four pages.
const pages: Array<[query: string, links: Record<string, string>]> = [
  ['per_page=3', { first: '1', next: '2', last: '4' }],
  ['per_page=3&page=1', { first: '1', next: '2', last: '4' }],
  ['per_page=3&page=2', { first: '1', prev: '1', next: '3', last: '4' }],
  ['per_page=3&page=3', { first: '1', prev: '2', next: '4', last: '4' }],
  ['per_page=3&page=4', { first: '1', prev: '3', last: '4' }],
  ['per_page=3&page=5', { first: '1', prev: '4', last: '4' }],
  ['per_page=3&page=2147483647', { first: '1', prev: '4', last: '4' }],
  ['per_page=10', { first: '1', last: '1' }],
  ['per_page=5', { first: '1', next: '2', last: '2' }],
  ['per_page=9&page=2', { first: '1', prev: '1', last: '2' }],
  ['', { first: '1', last: '1' }],
  ['filter[q]=nobody', { first: '1', last: '1' }],
  ['filter[q]=nobody&page=2', { first: '1', prev: '1', last: '1' }]
]

t.test('a page links to the first, last, previous and next page, if they exist', async (t) => {
  const app = await buildApp(t, await storeItems(10))
  for (const [query, wanted] of pages) {
    const { headers } = await requestList(app, 'candidates', query)
    t.same(pagesOf(parseLinks(headers.link)), wanted, query)
  }
})

t.test('links keep the caller\'s filters, order and page size, with any characters', async (t) => {
  const names = ['a&b=c', '<x>; rel="next"', '100% ü', '😀,😀', 'q\\"q', "o'(b)!*"]
  const storage = memoryStorage({
    tenants: {
      acme: {
        candidates: names.flatMap((name, index) => [1, 2, 3].map((number) => {
          return { id: index * 3 + number, full_name: `${name} ${number}`, recruiter_id: 7, updated_at: '2026-01-02T00:00:00Z' }
        }))
      }
    }
  })
  const app = await buildApp(t, { storage })
  for (const name of names) {
    const caller = {
      per_page: '1', sort: '-full_name,id', 'filter[q]': name, 'filter[recruiter_id]': '7', 'filter[updated_after]': '2026-01-01T00:00:00+01:00'
    }
    const { headers, statusCode } = await requestList(app, 'candidates', new URLSearchParams({ page: '2', ...caller }).toString())
    t.equal(statusCode, 200, name)
    const links = parseLinks(headers.link)
    t.same(Object.keys(links ?? {}), ['first', 'prev', 'next', 'last'], name)
    for (const [index, page] of ['1', '1', '3', '3'].entries()) {
      const target = new URL(Object.values(links ?? {})[index] ?? '', 'http://localhost')
      t.equal(target.pathname, '/api/v1/public/acme/candidates')
      t.same(Object.fromEntries(target.searchParams), { page, ...caller }, name)
      t.match((await app.inject({ url: `${target.pathname}${target.search}`, headers: bearer(keys.full) })).json().meta, { page: Number(page), total: 3 })
    }
  }
})

t.test('links have the path of the caller, not the path rewritten by the host', async (t) => {
  const app = await buildApp(t, { server: { rewriteUrl: ({ url = '' }) => url.replace('/proxied', '') } })
  const answer = await app.inject({ url: '/proxied/api/v1/public/%61cme/jobs?per_page=1', headers: bearer(keys.full) })
  t.equal(answer.statusCode, 200)
  t.equal(parseLinks(answer.headers.link)?.next, '/proxied/api/v1/public/%61cme/jobs?page=2&per_page=1&sort=id')
})

t.test('links longer than 4 KiB are omitted', async (t) => {
  const app = await buildApp(t)
  const lengthOf = async (count: number): Promise<number> => {
    const { statusCode, headers } = await requestList(app, 'candidates', `filter[q]=${encodeURIComponent('😀'.repeat(count))}`)
    t.equal(statusCode, 200)
    return String(headers.link ?? '').length
  }
  t.same([await lengthOf(163), await lengthOf(164), await lengthOf(200)], [4087, 0, 0])
  const padded = await requestList(app, 'candidates', `filter[q]=${'%20'.repeat(4000)}a&per_page=1`)
  t.equal(parseLinks(padded.headers.link)?.first, '/api/v1/public/acme/candidates?page=1&filter%5Bq%5D=a&per_page=1&sort=id')
})

t.test('links and Location contain no slashes that the host\'s router ignores', async (t) => {
  const routerOptions = { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true }
  const app = await buildApp(t, { openapi: false, server: { routerOptions } })
  const headers = bearer(keys.full)
  const payload = { name: 'ATS', target_url: 'https://example.com/', event_types: ['job.created'] }
  for (const [index, url] of ['/api/v1/public/acme/webhooks', '/api/v1/public/acme/webhooks/', '//api/v1//public/acme/webhooks//'].entries()) {
    const { statusCode, headers: { location } } = await app.inject({ method: 'POST', url, headers, payload })
    t.equal(statusCode, 201)
    t.equal(location, `/api/v1/public/acme/webhooks/${index + 1}`)
    t.equal((await app.inject({ url: String(location), headers })).statusCode, 200)
    const { headers: { link } } = await app.inject({ url: `${url}?per_page=1`, headers })
    t.equal(parseLinks(link)?.first, '/api/v1/public/acme/webhooks?page=1&per_page=1&sort=id')
  }
})

t.test('links and Location contain no host, no # and no character that ends a link, for any request target', async (t) => {
  const tenants = { acme: {}, 'a>b"c': {} }
  const keyLookup = async () => ({ id: 'key', scopes: ['webhooks:read', 'webhooks:write'] })
  const app = await buildApp(t, { storage: memoryStorage({ tenants }), keyLookup })
  const send = async (method: string, target: string, body = '') => {
    const [answer] = await sendRaw(app, `${method} ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer x\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    return answer
  }
  const payload = JSON.stringify({ name: 'ATS', target_url: 'https://example.com/', event_types: ['job.created'] })
  const usual = '/api/v1/public/acme/webhooks'
  for (const [target, path, page] of [
    [`${usual}#x`, usual, 1], [`${usual}#x?page=2`, usual, 2], [`${usual}?page=2`, usual, 2], [`http://evil.example${usual}`, usual, 1],
    ['/api/v1/public/a>b"c/webhooks', '/api/v1/public/a%3Eb%22c/webhooks', 1]
  ] as const) {
    const answer = await send('GET', target)
    t.equal(answer?.statusCode, 200, target)
    t.equal(parseLinks(answer?.headers.link)?.first, `${path}?page=1&per_page=25&sort=id`)
    t.equal(JSON.parse(answer?.body ?? '').meta.page, page)
    t.match(await send('POST', target.split('?')[0] ?? '', payload), { statusCode: 201, headers: { location: new RegExp(`^${path}/\\d+$`) } })
  }
})

t.test('responses other than pages have no links', async (t) => {
  const app = await buildApp(t, await storeItems(1))
  for (const [list, query] of [['candidates', 'page=0'], ['nothing', ''], ['webhooks/1', ''], ['webhooks/99/deliveries', ''], ['webhooks/1/deliveries/1', '']] as const) {
    t.equal((await requestList(app, list, query)).headers.link, undefined, `${list}?${query}`)
  }
})
