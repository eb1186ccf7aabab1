import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { tagOf } from '../http/answers/etag.js'
import { refuse } from '../shared/expect.js'
import { de } from './messages/de.js'
import { formatPage } from './page-html.js'
import type { PortalSettings } from './settings.js'

/** A file of the portal, ready to be sent. */
export interface PortalFile {
  /** Its path below `portal/`; empty for the page. */
  path: string
  body: Buffer
  /** A hash of the body, in quotes. */
  tag: string
  headers: { 'content-type': string, 'cache-control': string }
}

/**
 * Where `npm run build:portal` puts the script and the style, seen from `src/portal` and from `dist/portal`. So no module
 * here is called `portal.ts`: the script has that name.
 */
const built = new URL('../../dist/portal/', import.meta.url)

const types = { html: 'text/html', js: 'text/javascript', css: 'text/css' }

/**
 * Returns the files of the portal: the page, its script and style under names with a hash, and the script that defines the
 * element for pages of the host. Throws `invalid_option` if they were not built.
 */
export async function readAssets (settings: PortalSettings, from = built): Promise<PortalFile[]> {
  const [script, style] = await Promise.all([readBuilt('portal.js', from), readBuilt('portal.css', from)])
  const names = { script: nameOf(script, 'js'), style: nameOf(style, 'css') }
  const { theme, messages, frameAncestors: origins } = settings
  // English is part of the script.
  const config = JSON.stringify({ style: names.style, theme, messages: { de, ...messages }, origins })
  return [
    describe('', 'html', formatPage(config, names)),
    describe(`assets/${names.script}`, 'js', script),
    describe(`assets/${names.style}`, 'css', style),
    describe('assets/element.js', 'js', `import { define } from './${names.script}'\ndefine(${config})\n`)
  ]
}

async function readBuilt (name: string, from: URL): Promise<Buffer> {
  const file = new URL(name, from)
  try {
    return await readFile(file)
  } catch {
    refuse('portal', `the built page: run npm run build:portal, which writes ${name}`, 'no such file')
  }
}

function nameOf (body: Buffer, extension: 'js' | 'css'): string {
  return `portal-${createHash('sha256').update(body).digest('hex').slice(0, 16)}.${extension}`
}

function describe (path: string, type: keyof typeof types, content: Buffer | string): PortalFile {
  const body = Buffer.from(content)
  const isImmutable = path.startsWith('assets/portal-')
  return {
    path,
    body,
    tag: tagOf(body),
    headers: {
      'content-type': `${types[type]}; charset=utf-8`,
      'cache-control': isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache'
    }
  }
}
