/** Returns the schema of a body with all of these fields. */
export function body (properties: Record<string, object>): { body: object } {
  return { body: { type: 'object', required: Object.keys(properties), properties } }
}
