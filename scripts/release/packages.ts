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

/** Compares the exported types and the OpenAPI documents of two unpacked packages. */
export async function comparePackages (before: string, after: string): Promise<{ text: string, isAllowed: boolean }> {
  const [old, current] = [await readPackage(before), await readPackage(after)]
  const breaks = [
    ...findBreaks(old.types, current.types).map((line) => `types: ${line}`),
    ...findBreaks(old.document, current.document).map((line) => `openapi.json: ${line}`)
  ]
  const isAllowed = breaks.length === 0 || mayBreak(old.version, current.version)
  const verdict = breaks.length === 0
    ? `${current.version} breaks nothing of ${old.version}`
    : `${current.version} breaks ${breaks.length} part${breaks.length === 1 ? '' : 's'} of ${old.version}: ${isAllowed ? 'each one needs an upgrade note' : 'its version must say so'}`
  return { text: [...breaks, verdict].join('\n'), isAllowed }
}

async function readPackage (folder: string) {
  const { name, version, exports } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as PackageFile
  const entryPoints = Object.entries(exports).flatMap(([path, target]) => typeof target === 'string' ? [] : [[`${name}${path.slice(1)}`, target.types]])
  return {
    version,
    types: readTypes(folder, Object.fromEntries(entryPoints)),
    document: readDocument(JSON.parse(await readFile(join(folder, 'openapi.json'), 'utf8')))
  }
}
