import { readFile } from 'node:fs/promises'
import t from 'tap'

interface Configuration {
  folders: Record<string, string[]>
}

t.test('the table of imports in the document is the one that lint enforces', async (t) => {
  const root = new URL('../../', import.meta.url)
  const { folders } = await import(new URL('.ci/folders.js', root).href) as Configuration
  const document = await readFile(new URL('docs/architecture.md', root), 'utf8')
  const rows = document.matchAll(/^\| `(\w+)\/` \| ([^|]*) \|[^|]*\|$/gm)
  const said = Object.fromEntries([...rows].map(([, folder = '', imports = '']) => [folder, [...imports.matchAll(/`([^`]+)`/g)].map(([, path]) => path)]))
  t.strictSame(said, folders)
})
