/**
 * Calls code of the host and returns its result, or `undefined` if it throws. What it throws or rejects with goes to
 * `onError`: it must not fail the caller or end the process.
 */
export function callHost<Result> (call: () => Result, onError: (error: unknown) => void): Result | undefined {
  try {
    const result = call()
    Promise.resolve(result).catch(onError)
    return result
  } catch (error) {
    onError(error)
    return undefined
  }
}
