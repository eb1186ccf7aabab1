// Bundles the package into a few files in dist, because many small files load slowly, and deletes declarations that no
// entry point needs. dist/cjs contains the same files and declarations as CommonJS.

import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, transform } from 'esbuild'
import ts from 'typescript'

const root = fileURLToPath(new URL('../', import.meta.url))
const dist = join(root, 'dist')
const entries = ['index', 'client/index', 'memory/index', 'postgres/index', 'testing/index']

const options = {
  absWorkingDir: root,
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
} as const
const entryPoints = entries.map((name) => `src/${name}.ts`)

await build({ ...options, entryPoints: [...entryPoints, 'src/cli/bin.ts'] })

const program = ts.createProgram(entries.map((name) => join(dist, `${name}.d.ts`)), {
  module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, skipLibCheck: true
})
const needed = new Set(program.getSourceFiles().map(({ fileName }) => fileName))
for (const name of await readdir(dist, { recursive: true })) {
  const file = join(dist, name)
  if (name.endsWith('.d.ts') && !needed.has(file)) await rm(file)
}

const cjs = join(dist, 'cjs')
const { outputFiles } = await build({ ...options, entryPoints, write: false })
for (const { path, text } of outputFiles) {
  const { code } = await transform(text, {
    format: 'cjs',
    platform: 'node',
    target: options.target,
    charset: 'utf8',
    define: { 'import.meta.url': '__filename' },
    // Jest cannot run `import()`.
    supported: { 'dynamic-import': false }
  })
  const file = join(cjs, relative(dist, path))
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, code)
}
for (const file of needed) if (file.startsWith(dist)) await cp(file, join(cjs, relative(dist, file)))
await writeFile(join(cjs, 'package.json'), '{ "type": "commonjs" }\n')
