import t from 'tap'
import type { EventFeed } from '../../src/core/ports/index.js'
import { findStart } from '../../src/core/shared/feed.js'

t.test('a reader may miss events if a page before its start ended early', async (t) => {
  for (const hasMore of [true, false]) {
    const feed: Pick<EventFeed, 'end' | 'endBefore' | 'list'> = {
      end: async () => '9',
      endBefore: async () => '5',
      // A page that contains no matching event, and has more if it was not read to the end.
      list: async (_tenant, { after }) => ({ bodies: [], position: '9', hasMore: after === '1' && hasMore })
    }
    const start = { after: '1', since: '2026-01-01T00:00:00.000Z', eventTypes: null, filters: { 'data.id': [1] } }
    t.strictSame(await findStart(feed, 'acme', start), { position: '5', isTruncated: hasMore })
  }
})
