// Writes the tables in the docs from doc comments, between their markers, and the files in the guide to adapters.

import { readFile, writeFile } from 'node:fs/promises'
import { fillPage, listPages } from './tables/pages.js'

for (const page of await listPages()) {
  await writeFile(page, await fillPage(await readFile(page, 'utf8')))
}
