/**
 * Calls a function of the host and returns its result, or `undefined` if it throws. Passes a thrown error or rejection
 * to `onError`, so that it neither fails the caller nor ends the process.
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
