/** Calls so many times without waiting in between, and gives all results. */
export function atOnce<Value> (count: number, make: (index: number) => Promise<Value>): Promise<Value[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => make(index)))
}
