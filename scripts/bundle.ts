// Bundles the package into a few files in dist, because many small files load slowly, and the same files as CommonJS in
// dist/cjs, with the declarations of both. Deletes declarations that no entry point needs.

import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, transform } from 'esbuild'
import ts from 'typescript'

const root = fileURLToPath(new URL('../', import.meta.url))
const dist = join(root, 'dist')
const cjs = join(dist, 'cjs')
const entries = ['index', 'around/client/index', 'storages/memory/index', 'storages/postgres/index', 'around/testing/index']

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

await build({ ...options, entryPoints: [...entryPoints, 'src/around/cli/bin.ts'] })

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
  await write(join(cjs, relative(dist, path)), code)
}
await write(join(cjs, 'package.json'), '{ "type": "commonjs" }\n')

const program = ts.createProgram(entries.map((name) => join(cjs, `${name}.d.ts`)), {
  module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, skipLibCheck: true
})
const needed = new Set(program.getSourceFiles().map(({ fileName }) => fileName))
for (const name of await readdir(cjs, { recursive: true })) {
  const file = join(cjs, name)
  if (name.endsWith('.d.ts') && !needed.has(file)) await rm(file)
}
for (const name of entries) {
  const path = `'${name === 'index' ? '.' : '../..'}/cjs/${name}.js'`
  const plugin = name === 'index' ? `export { recruitingApi as default } from ${path}\n` : ''
  await write(join(dist, `${name}.d.ts`), `export * from ${path}\n${plugin}`)
}

async function write (file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
}
