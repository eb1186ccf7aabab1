/**
 * Returns whether the host has `trustProxy: true`. Fastify has no public way to ask, so its own record of its options is
 * read; where there is none, the answer is false.
 */
export function trustsEveryProxy (app: object): boolean {
  for (let owner: object | null = app; owner !== null; owner = Object.getPrototypeOf(owner)) {
    const kOptions = Object.getOwnPropertySymbols(owner).find(({ description }) => description === 'fastify.options')
    if (kOptions !== undefined) return Reflect.get(owner, kOptions).trustProxy === true
  }
  return false
}
