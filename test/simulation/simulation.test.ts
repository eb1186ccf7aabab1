import t from 'tap'
import regressions from './seeds.json' with { type: 'json' }
import { simulate } from './simulate.js'

t.test('every promise is kept on 60 bad days', async (t) => {
  let received = 0
  for (let seed = 1; seed <= 60; seed++) {
    const run = await simulate(seed)
    received += run.received
    if (run.failure !== null) t.fail(`seed ${seed}: ${run.failure}; npm run simulate -- --from ${seed} --seeds 1`)
  }
  t.ok(received > 3000, 'receivers read many requests')
})

t.test('seeds that failed once still pass', async (t) => {
  for (const { seed, about } of regressions as Array<{ seed: number, about: string }>) {
    t.equal((await simulate(seed)).failure, null, `${seed}: ${about}`)
  }
})

t.test('a seed always produces the same run', async (t) => {
  for (let seed = 1; seed <= 3; seed++) {
    const [one, other] = [await simulate(seed), await simulate(seed)]
    t.equal(one.digest, other.digest, `seed ${seed}`)
  }
})
