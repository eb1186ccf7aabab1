import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import type { Feed, NumberedEntry, StateEntry } from './feed.js'

/**
 * Streams the feed as server-sent events: first the recent entries, then `caught-up` with the state, then new
 * entries.
 */
export function feedStream (feed: Feed, readState: () => StateEntry): FastifyPluginAsync {
  return async (app) => {
    const readers = new Set<FastifyReply>()

    app.get('/demo/feed', async (request, reply) => {
      reply.hijack()
      reply.raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
      reply.raw.write('retry: 500\n\n')
      const seen = Number(request.headers['last-event-id'] ?? 0)
      const send = (entry: NumberedEntry): unknown =>
        reply.raw.write(`id: ${entry.number}\ndata: ${JSON.stringify(entry)}\n\n`)
      feed.recent.filter(({ number }) => number > seen).forEach(send)
      reply.raw.write(`event: caught-up\ndata: ${JSON.stringify(readState())}\n\n`)
      const stop = feed.listen(send)
      readers.add(reply)
      request.raw.once('close', () => {
        stop()
        readers.delete(reply)
      })
    })

    // Otherwise closing would wait for open pages.
    app.addHook('preClose', async () => { for (const reader of readers) reader.raw.end() })
  }
}
