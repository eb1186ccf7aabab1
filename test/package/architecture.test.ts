import { readdir, readFile } from 'node:fs/promises'
import t from 'tap'
import ts from 'typescript'

interface Configuration {
  folders: Record<string, string[]>
}

const root = new URL('../../', import.meta.url)

t.test('the table of imports in docs/architecture.md matches the lint rule', async (t) => {
  const { folders } = await import(new URL('.ci/folders.js', root).href) as Configuration
  const document = await readFile(new URL('docs/architecture.md', root), 'utf8')
  const rows = document.matchAll(/^\| `(\w+\/\w+)\/` \| ([^|]*) \|[^|]*\|$/gm)
  const documented = Object.fromEntries([...rows].map(([, folder = '', imports = '']) => [folder, [...imports.matchAll(/`([^`]+)`/g)].map(([, path]) => path)]))
  t.strictSame(documented, folders)
})

/** Returns the files that each file of `src` imports. */
async function readImports (): Promise<Map<string, string[]>> {
  const names = (await readdir(new URL('src/', root), { recursive: true })).filter((name) => /\.tsx?$/.test(name))
  const addresses = names.map((name) => new URL(`src/${name}`, root).href)
  return new Map(await Promise.all(addresses.map(async (address) => {
    const { importedFiles } = ts.preProcessFile(await readFile(new URL(address), 'utf8'))
    const imported = importedFiles.filter(({ fileName }) => fileName.startsWith('.')).map(({ fileName }) => new URL(fileName, address).href.replace(/\.jsx?$/, ''))
    return [address, addresses.filter((other) => imported.includes(other.replace(/\.tsx?$/, '')))] as const
  })))
}

t.test('no imports are circular', async (t) => {
  const imports = await readImports()
  t.ok(imports.size > 200 && [...imports.values()].flat().length > imports.size)
  // Repeatedly removes files without imports. The rest is a circle, or leads to one.
  for (let size = -1; size !== imports.size;) {
    size = imports.size
    for (const [file, imported] of imports) if (!imported.some((other) => imports.has(other))) imports.delete(file)
  }
  t.strictSame([...imports.keys()], [])
})
