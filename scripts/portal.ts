// Builds the portal's page: dist/portal/portal.js and portal.css. Fails if their total size exceeds the limit, which
// excludes the texts of a language.

import { copyFile, mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const maxGzippedBytes = 40 * 1024

const root = new URL('../', import.meta.url)
const { outputFiles } = await build({
  absWorkingDir: fileURLToPath(root),
  entryPoints: { portal: 'src/around/portal/page/main.tsx' },
  outdir: 'dist/portal',
  tsconfig: 'src/around/portal/page/tsconfig.json',
  bundle: true,
  format: 'esm',
  target: ['es2022', 'chrome123', 'firefox121', 'safari17.5'],
  charset: 'utf8',
  minify: true,
  legalComments: 'none',
  write: false
})

let total = 0
for (const { path, contents } of outputFiles) {
  const gzipped = gzipSync(contents, { level: 9 }).length
  total += gzipped
  await writeWhole(path, contents)
  console.log(`${path.slice(path.lastIndexOf('/') + 1)}: ${contents.length} bytes, ${gzipped} gzipped`)
}
// The script contains Preact, whose license requires this file.
await copyFile(new URL('node_modules/preact/LICENSE', root), new URL('dist/portal/LICENSE-preact.txt', root))
if (total > maxGzippedBytes) {
  console.error(`The portal takes ${total} bytes gzipped, more than ${maxGzippedBytes}`)
  process.exitCode = 1
}

/** Replaces a file atomically: a server that starts during the build reads the old or the new file. */
async function writeWhole (path: string, contents: Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(`${path}.${process.pid}`, contents)
  await rename(`${path}.${process.pid}`, path)
}
