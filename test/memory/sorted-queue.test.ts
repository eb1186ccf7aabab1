import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { SortedQueue } from '../../src/memory/deliveries/queue/sorted-queue.js'

interface Item {
  id: number
  rank: number
}

function createQueue (ranks: readonly number[]): { queue: SortedQueue<Item>, items: Item[] } {
  const queue = new SortedQueue<Item>(({ rank }) => rank)
  const items = ranks.map((rank, id) => ({ id, rank }))
  for (const item of items) queue.add(item)
  return { queue, items }
}

function drain (queue: SortedQueue<Item>): Item[] {
  const drained: Item[] = []
  for (let item = queue.shift(); item !== undefined; item = queue.shift()) drained.push(item)
  return drained
}

const ranks = fc.array(fc.integer({ min: 0, max: 20 }))

t.test('items come out by rank, and by id where the rank is the same', async () => {
  fc.assert(fc.property(ranks, (given) => {
    const { queue, items } = createQueue(given)
    return isDeepStrictEqual(drain(queue), items.toSorted((a, b) => a.rank - b.rank || a.id - b.id))
  }))
})

t.test('an item can be taken out wherever it stands', async () => {
  fc.assert(fc.property(ranks, fc.func(fc.boolean()), (given, isRemoved) => {
    const { queue, items } = createQueue(given)
    const removed = items.filter(({ id }) => isRemoved(id))
    const wereThere = removed.every((item) => queue.remove(item))
    const areThere = removed.some((item) => queue.remove(item))
    const left = drain(queue).toSorted((a, b) => a.id - b.id)
    return wereThere && !areThere && isDeepStrictEqual(left, items.filter((item) => !removed.includes(item)))
  }))
})

t.test('the count up to a rank is that of the items left', async (t) => {
  const { queue } = createQueue([5, 1, 3, 3])
  queue.shift()

  t.strictSame([0, 1, 3, 4, 5].map((rank) => queue.countUpTo(rank)), [0, 0, 2, 2, 3])
})

t.test('a long queue keeps its order while it is filled and emptied by turns', async (t) => {
  const queue = new SortedQueue<Item>(({ rank }) => rank)
  const seen: number[] = []
  for (let id = 0; id < 5000; id++) {
    queue.add({ id, rank: id })
    if (id % 2 === 1) seen.push(queue.shift()?.id ?? -1)
  }
  queue.add({ id: 5000, rank: 0 })
  seen.push(...drain(queue).map(({ id }) => id))

  t.equal(queue.size, 0)
  t.strictSame(seen.filter((id) => id !== 5000), Array.from({ length: 5000 }, (_, id) => id))
  t.equal(seen.indexOf(5000), 2500)
})
