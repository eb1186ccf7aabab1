import { fileURLToPath, pathToFileURL } from 'node:url'
import t from 'tap'
import { compileFaulty, faults } from '../../simulation/faults.js'
import type { simulate } from '../../simulation/simulate.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const sample = 50
const mostSeeds = 2000

t.test('the simulation finds each fault within 2,000 seeds', async (t) => {
  for (const [index, [name, edits]] of Object.entries(faults).entries()) {
    const outfile = `${root}build/faulty/${index}.js`
    await compileFaulty(root, edits, outfile)
    const faulty = await import(pathToFileURL(outfile).href) as { simulate: typeof simulate }
    let first = 0
    let found = 0
    for (let seed = 1; seed <= sample || (found === 0 && seed <= mostSeeds); seed++) {
      const { failure } = await faulty.simulate(seed)
      if (failure === null) continue
      // A crash of the faulty code proves nothing.
      t.notMatch(failure, /^(Reference|Type|Syntax)Error/, name)
      found++
      if (first === 0) first = seed
    }
    t.ok(found > 0, `${name}: ${found} of the first ${Math.max(sample, first)} seeds, first ${first}`)
  }
})
