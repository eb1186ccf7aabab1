/** Returns the seed of a run, and prints it: `SEED=…` repeats the choices of an earlier run. */
export function pickSeed (t: { comment (text: string): void }): number {
  const seed = Number(process.env.SEED ?? Date.now() % 1e9)
  t.comment(`SEED=${seed}`)
  return seed
}
