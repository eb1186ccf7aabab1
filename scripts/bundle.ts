// Bundles the package into a few files in dist, because many small files load slowly, and deletes declarations that no
// entry point needs.

import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import ts from 'typescript'

const root = fileURLToPath(new URL('../', import.meta.url))
const dist = join(root, 'dist')
const entries = ['index', 'client/index', 'memory/index', 'postgres/index', 'testing/index']

await build({
  absWorkingDir: root,
  entryPoints: [...entries, 'cli/bin'].map((name) => `src/${name}.ts`),
  outbase: 'src',
  outdir: 'dist',
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  charset: 'utf8'
})

const program = ts.createProgram(entries.map((name) => join(dist, `${name}.d.ts`)), {
  module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, skipLibCheck: true
})
const needed = new Set(program.getSourceFiles().map(({ fileName }) => fileName))
for (const name of await readdir(dist, { recursive: true })) {
  const file = join(dist, name)
  if (name.endsWith('.d.ts') && !needed.has(file)) await rm(file)
}
