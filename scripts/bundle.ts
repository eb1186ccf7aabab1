// Bundles the package into a few files in dist, because many small files load slowly, and the same files as CommonJS in
// dist/cjs, with the declarations of both. Deletes declarations that no entry point needs. Big files without state, the
// conformance cases and the portal's texts, exist once, as CommonJS, which both can load.

import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Plugin, build, transform } from 'esbuild'
import ts from 'typescript'

const root = fileURLToPath(new URL('../', import.meta.url))
const dist = join(root, 'dist')
const cjs = join(dist, 'cjs')
const entries = ['index', 'around/client/index', 'storages/memory/index', 'storages/postgres/index', 'tools/testing/index']

const smallest = { minify: true, lineLimit: 1000 }
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
  charset: 'utf8',
  // Names are kept, and lines are short enough for stack traces.
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 120
} as const
const entryPoints = entries.map((name) => `src/${name}.ts`)

const testing = 'src/tools/testing/index.ts'

/** Imports the files without state from `cjsFolder`, the path of dist/cjs from dist, for the build in `dist`. */
function sharedFrom (cjsFolder: string): Plugin {
  return {
    name: 'shared',
    setup ({ onLoad, onResolve }) {
      onResolve({ filter: /^\.\// }, ({ importer }) =>
        importer === join(root, testing) ? { path: `../../${cjsFolder}tools/testing/cases.js`, external: true } : null)
      // The only file that imports them is a chunk.
      onResolve({ filter: /\/locales\/\w+\.json$/ }, ({ path }) =>
        ({ path: `../${cjsFolder}locales/${basename(path, '.json')}.js`, external: true }))
      // There, they are no longer JSON.
      onLoad({ filter: /\/portal\/pages\.ts$/ }, async ({ path }) =>
        ({ contents: (await readFile(path, 'utf8')).replaceAll(" with { type: 'json' }", ''), loader: 'ts' }))
    }
  }
}

/** Returns the built files with their paths. */
async function bundle (entryPoints: string[], cjsFolder: string): Promise<Array<{ path: string, text: string }>> {
  const built = await build({ ...options, entryPoints, plugins: [sharedFrom(cjsFolder)], write: false })
  return built.outputFiles
}

for (const { path, text } of await bundle([...entryPoints, 'src/tools/cli/bin.ts'], 'cjs/')) await write(path, text)
for (const { path, text } of await bundle(entryPoints, '')) {
  const { code } = await transform(text, {
    format: 'cjs',
    // Only older tools load it.
    ...smallest,
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
const index = await readFile(join(root, testing), 'utf8')
const parts = new Set(Array.from(index.matchAll(/from '(\.\/.+)'/g), ([, part = '']) => part))
await build({
  ...options,
  ...smallest,
  format: 'cjs',
  splitting: false,
  outdir: 'dist/cjs/tools/testing',
  entryNames: 'cases',
  stdin: {
    contents: [...parts].map((part) => `export * from '${part}'`).join('\n'),
    resolveDir: join(root, dirname(testing))
  }
})
const locales = join(root, 'src/around/portal/locales')
for (const name of (await readdir(locales)).filter((name) => name.endsWith('.json'))) {
  const texts = JSON.stringify(JSON.parse(await readFile(join(locales, name), 'utf8')))
  await write(join(cjs, 'locales', `${basename(name, '.json')}.js`), `module.exports = ${texts}\n`)
}

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
  await writeFile(file, text, { mode: text.startsWith('#!') ? 0o755 : 0o644 })
}
