// Compares two unpacked packages, lists what the second one breaks, and fails if its version says that it breaks
// nothing.
//
// tsx scripts/check-breaks.ts FOLDER-OF-THE-LAST-RELEASE FOLDER

import { comparePackages } from './release/packages.js'

const [, , before = '', after = ''] = process.argv
const { text, isAllowed } = await comparePackages(before, after)
console.log(text)
process.exitCode = isAllowed ? 0 : 1
