// Writes the tables of the documents from doc comments, between the markers that name them, and the files of the guide
// to adapters.

import { readFile, writeFile } from 'node:fs/promises'
import { fillPage, listPages } from './tables/pages.js'

for (const page of await listPages()) {
  await writeFile(page, await fillPage(await readFile(page, 'utf8')))
}
