/** The tenant whose requests and receivers press on the others. */
export const loud = 'loud'
/** The tenant that is measured. */
export const quiet = 'quiet'

/** Published fields of candidates, from which keys get their lists of fields. */
export const fieldNames = ['city', 'country', 'phone', 'street', 'zip', 'team', 'office', 'level']
