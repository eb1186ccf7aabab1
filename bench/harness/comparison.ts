export interface Sample {
  perSecond: number
  /** Microseconds of CPU for each, of the measured process. */
  cpuMicros: number
}

/** Alternating measurements: those with the same index were taken within the same seconds. */
export interface Comparison {
  ours: Sample[]
  theirs: Sample[]
}

export interface Contest {
  measureOurs: () => Promise<Sample>
  measureTheirs: () => Promise<Sample>
}

export function emptyComparison (): Comparison {
  return { ours: [], theirs: [] }
}

/** Adds rounds. The two alternate in going first, because machines slow down and speed up under load. */
export async function addRounds (
  comparison: Comparison,
  { measureOurs, measureTheirs }: Contest,
  rounds: number
): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const early = round % 2 === 0 ? await measureOurs() : null
    comparison.theirs.push(await measureTheirs())
    comparison.ours.push(early ?? (await measureOurs()))
  }
}

export interface Labels {
  title: string
  unit: string
  theirs: string
  /** The target ratio of our rate to theirs; `null` for none. */
  target: number | null
}

/** Prints the median of the rounds' ratios with its spread, and the absolute figures. */
export function printComparison ({ ours, theirs }: Comparison, { title, unit, theirs: name, target }: Labels): void {
  const rates = ratios(ours, theirs, ({ perSecond }) => perSecond)
  const costs = ratios(theirs, ours, ({ cpuMicros }) => cpuMicros)
  const aim = target === null ? '' : `, target ${target.toFixed(2)}`
  console.log(`\n${title}`)
  console.log(`  rate ${describe(rates)} of the ${name}${aim} (${rates.length} rounds)`)
  console.log(`  cost ${describe(costs)} (its CPU time over ours)`)
  for (const [who, samples] of [['ours', ours], [name, theirs]] as const) {
    const rate = Math.round(median(samples.map(({ perSecond }) => perSecond))).toLocaleString('en')
    const cost = median(samples.map(({ cpuMicros }) => cpuMicros)).toFixed(1)
    console.log(`  ${who.padEnd(18)} ${rate.padStart(7)} ${unit}/s, ${cost} µs of CPU each`)
  }
}

function ratios (over: readonly Sample[], under: readonly Sample[], read: (sample: Sample) => number): number[] {
  return over.flatMap((sample, round) => {
    const other = under[round]
    return other === undefined ? [] : [read(sample) / read(other)]
  })
}

function describe (values: readonly number[]): string {
  const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => quantile(values, share).toFixed(3))
  return `${middle} (quartiles ${low} to ${high})`
}

function median (values: readonly number[]): number {
  return quantile(values, 0.5)
}

function quantile (values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const place = (sorted.length - 1) * share
  const below = sorted[Math.floor(place)] ?? Number.NaN
  const above = sorted[Math.ceil(place)] ?? Number.NaN
  return below + (above - below) * (place % 1)
}
