import t from 'tap'
import { simulate } from '../../simulation/simulate.js'

t.test('every promise is kept on 1,000 bad days', async (t) => {
  for (let seed = 61; seed <= 1060; seed++) {
    const { failure } = await simulate(seed)
    if (failure !== null) t.fail(`seed ${seed}: ${failure}; npm run simulate -- --from ${seed} --seeds 1`)
  }
  t.pass()
})
