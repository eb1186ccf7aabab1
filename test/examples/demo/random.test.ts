import t from 'tap'
import { createRandom } from '../../../examples/demo/data/random.js'

t.test('the same seed gives the same numbers, within their bounds', async (t) => {
  const draw = (seed: number) => {
    const random = createRandom(seed)
    return Array.from({ length: 50 }, () => [random.integer(3, 5), random.chance(0.5), random.pick(['a', 'b'])])
  }
  t.same(draw(1), draw(1))
  t.notSame(draw(1), draw(2))
  t.same([...new Set(draw(1).map(([integer]) => integer))].sort(), [3, 4, 5])
})

t.test('nothing can be picked from an empty list', async (t) => {
  t.throws(() => createRandom(1).pick([]), { message: 'nothing to pick from' })
})
