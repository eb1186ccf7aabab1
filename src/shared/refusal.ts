/** Input by a client that the schemas cannot judge, refused where it can be: one field, and what it must be. */
export class Refusal extends Error {
  /** The body's field, such as `target_url`. */
  readonly field: string

  constructor (field: string, message: string) {
    super(message)
    this.field = field
  }
}
