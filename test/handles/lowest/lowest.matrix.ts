import { runMatrix } from '../matrix.js'

await runMatrix((name) => import(name))
