/** Makes `count` concurrent calls and returns all results. */
export function atOnce<Value> (count: number, make: (index: number) => Promise<Value>): Promise<Value[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => make(index)))
}
