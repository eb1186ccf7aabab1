/**
 * Returns a function that keeps what was compiled from a schema for the life of the process, by the text of the schema.
 * Compiling takes most of the time of a registration, and the tests of a host often register once per test.
 */
export function keepCompiled<Compiled> (): (schema: unknown, compile: () => Compiled) => Compiled {
  const kept = new Map<string, Compiled>()
  return (schema, compile) => {
    const text = JSON.stringify(schema)
    const known = kept.get(text)
    if (known !== undefined) return known
    const compiled = compile()
    // Schemas with `$id` or `$ref` depend on others.
    if (!text.includes('"$')) kept.set(text, compiled)
    return compiled
  }
}
