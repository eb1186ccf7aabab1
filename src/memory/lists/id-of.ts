import type { IdKinds } from '../../ports/index.js'

/** The type of an option `ids` that is left out. */
export type IntegerIds = Partial<Record<keyof IdKinds, 'integer'>>

/** The type of one id, where `Ids` is the type of the option `ids`: `string` if the option says so, otherwise `number`. */
export type IdOf<Ids extends Partial<IdKinds>, Name extends keyof IdKinds> = Name extends keyof Ids ? IdOfKind<Ids[Name]> : number

type IdOfKind<Kind> = Kind extends 'string' ? string : number
