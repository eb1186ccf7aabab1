// Writes the tables of the documents from doc comments, between the markers that name them.

import { readFile, writeFile } from 'node:fs/promises'
import { fillTables, listPages } from './tables/pages.js'

for (const page of await listPages()) {
  await writeFile(page, await fillTables(await readFile(page, 'utf8')))
}
