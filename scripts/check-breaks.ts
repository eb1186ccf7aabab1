// Lists the breaking changes between two unpacked packages. Fails if the second version number does not allow them.
//
// tsx scripts/check-breaks.ts FOLDER-OF-THE-LAST-RELEASE FOLDER

import { comparePackages } from './release/packages.js'

const [, , before = '', after = ''] = process.argv
const { text, isAllowed } = await comparePackages(before, after)
console.log(text)
process.exitCode = isAllowed ? 0 : 1
