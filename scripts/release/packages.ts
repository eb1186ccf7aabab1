import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findBreaks, mayBreak } from './breaks.js'
import { readDocument } from './document-shape.js'
import { readTypes } from './types-shape.js'

interface PackageFile {
  name: string
  version: string
  exports: Record<string, string | { types: string }>
}

/** Compares exported types and OpenAPI documents of two unpacked packages. */
export async function comparePackages (before: string, after: string): Promise<{ text: string, isAllowed: boolean }> {
  const [old, current] = [await readPackage(before), await readPackage(after)]
  const ofTypes = findBreaks(old.types, current.types).map((line) => `types: ${line}`)
  const ofApi = findBreaks(old.document, current.document).map((line) => `openapi.json: ${line}`)
  const breaks = [...ofTypes, ...ofApi]
  // Customers' programs do not upgrade with the package, so no version may break them.
  const isAllowed = ofApi.length === 0 && (ofTypes.length === 0 || mayBreak(old.version, current.version))
  const need = isAllowed
    ? 'each one needs an upgrade note'
    : ofApi.length > 0
      ? 'no version may break the API'
      : 'its version number does not allow that'
  const verdict = breaks.length === 0
    ? `${current.version} breaks nothing of ${old.version}`
    : `${current.version} breaks ${breaks.length} part${breaks.length === 1 ? '' : 's'} of ${old.version}: ${need}`
  return { text: [...breaks, verdict].join('\n'), isAllowed }
}

async function readPackage (folder: string) {
  const { name, version, exports } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as PackageFile
  const entryPoints = Object.entries(exports).flatMap(([path, target]) =>
    typeof target === 'string' ? [] : [[`${name}${path.slice(1)}`, target.types]]
  )
  return {
    version,
    types: readTypes(folder, Object.fromEntries(entryPoints)),
    document: readDocument(JSON.parse(await readFile(join(folder, 'openapi.json'), 'utf8')))
  }
}
