import type { FastifyReply, FastifyRequest, FastifySchema, onSendHookHandler } from 'fastify'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { hasTag, packageFolder, tagOf } from '../../core/shared/files.js'
import type { Portal } from '../../core/http/sessions.js'
import type { Clock } from '../../core/ports/index.js'
import { rejectOption } from '../../core/shared/read-options.js'
import de from './locales/de.json' with { type: 'json' }
import es from './locales/es.json' with { type: 'json' }
import fr from './locales/fr.json' with { type: 'json' }
import nl from './locales/nl.json' with { type: 'json' }
import pt from './locales/pt.json' with { type: 'json' }
import { type PortalMessages, en, readTexts } from './messages.js'
import type { PortalKeysSettings } from '../../core/keys/options.js'
import type { PortalSettings } from './options.js'
import { createSessionBox } from './session.js'

/** The built-in texts, by locale. */
export const languages: Record<'en' | 'de' | 'fr' | 'es' | 'nl' | 'pt', PortalMessages> = {
  en, de: readTexts(de), fr: readTexts(fr), es: readTexts(es), nl: readTexts(nl), pt: readTexts(pt)
}

/** The settings that the page needs. */
export interface PortalFacts {
  /** The addresses that notifications come from. */
  sourceIps: readonly string[]
  /** The settings for customers' API keys; `null` if customers cannot manage keys. */
  keys: PortalKeysSettings | null
  /** Whether agents can subscribe to events. */
  hasAgents: boolean
  /** Whether the API accepts `Idempotency-Key` for all POST requests. */
  isKeyed: boolean
}

/** Returns the parts of the portal that the API mounts. Throws `invalid_option` if its page is not built. */
export async function buildPortal (
  settings: PortalSettings, facts: PortalFacts, clock: Pick<Clock, 'now'>
): Promise<Portal> {
  const files = await readAssets(settings, facts)
  return {
    sessions: createSessionBox(settings.secretKeys, clock),
    pages: portalRoutes(files, createSecurityHeaders(settings.frameAncestors))
  }
}

/** A file of the portal, ready to send. */
interface PortalFile {
  /** Its path below `portal/`; empty for the page. */
  path: string
  body: Buffer
  /** A hash of the body, in quotes. */
  tag: string
  headers: { 'content-type': string, 'cache-control': string }
}

const types = { html: 'text/html', js: 'text/javascript', css: 'text/css', json: 'application/json' }

/**
 * Returns the portal's files: the page, its script, style and texts under hashed names, and the script that defines
 * the element on the host's pages. Throws `invalid_option` if they are not built.
 */
export async function readAssets (
  settings: PortalSettings, facts: PortalFacts, from = new URL('dist/portal/', packageFolder())
): Promise<PortalFile[]> {
  const [script, style] = await Promise.all([readBuilt('portal.js', from), readBuilt('portal.css', from)])
  const names = { script: nameOf(script, 'js'), style: nameOf(style, 'css') }
  const { theme, frameAncestors: origins, returnOrigins } = settings
  // One file per language, so that a page loads only its own.
  const texts = Object.entries({ ...languages, ...settings.messages }).map(([locale, messages]) => {
    const body = Buffer.from(JSON.stringify(messages))
    return { locale, name: nameOf(body, 'json', `portal-${locale}`), body }
  })
  const messages = Object.fromEntries(texts.map(({ locale, name }) => [locale, name]))
  const config = JSON.stringify({ style: names.style, theme, messages, origins, returnOrigins, ...facts })
  return [
    describe('', 'html', formatPage(config, names)), describe(`assets/${names.script}`, 'js', script),
    describe(`assets/${names.style}`, 'css', style),
    ...texts.map(({ name, body }) => describe(`assets/${name}`, 'json', body)),
    describe('assets/element.js', 'js', `import { define } from './${names.script}'\ndefine(${config})\n`)
  ]
}

async function readBuilt (name: string, from: URL): Promise<Buffer> {
  const file = new URL(name, from)
  try {
    return await readFile(file)
  } catch {
    rejectOption('portal', `the built page: run npm run build:portal, which writes ${name}`, 'no such file')
  }
}

function nameOf (body: Buffer, extension: 'js' | 'css' | 'json', stem = 'portal'): string {
  return `${stem}-${createHash('sha256').update(body).digest('hex').slice(0, 16)}.${extension}`
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

/**
 * Formats the page. Its paths are relative, so it works under any prefix and behind a proxy that rewrites paths. The
 * empty icon saves browsers a request.
 */
function formatPage (config: string, { script, style }: { script: string, style: string }): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Webhooks</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<link rel="preload" as="style" href="assets/${style}">
<script type="module" src="assets/${script}"></script>
</head>
<body>
<recruiting-webhooks config="${escape(config)}"></recruiting-webhooks>
<noscript>This page needs JavaScript.</noscript>
</body>
</html>
`
}

function escape (text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

const kFile = Symbol('portal file')

interface ServingReply extends FastifyReply {
  [kFile]?: PortalFile | null
}

// Only @fastify/swagger declares `hide`, and a host may not have it.
const hidden: FastifySchema & { hide: true } = { hide: true }

/**
 * Serves the portal's files at their exact paths, so that a tenant with the slug `portal` keeps its API. Hashed names
 * of other versions get the current file.
 */
function portalRoutes (files: readonly PortalFile[], security: SecurityHeaders): Portal['pages'] {
  const onSend = restoreFile(security)
  return async (app, { config }) => {
    app.decorateReply(kFile, null)
    const options = { exposeHeadRoute: true, config, schema: hidden, onSend }
    const send = (request: FastifyRequest, reply: ServingReply, file: PortalFile) => {
      reply[kFile] = file
      return isKnown(request, file) ? reply.code(304).send() : reply.headers(file.headers).send(file.body)
    }
    for (const file of files) {
      app.get(`/portal/${file.path}`, options, (request, reply) => send(request, reply, file))
    }
    // During a rolling update, a page may request a name of the other version. Caches must not store the response.
    const current = files
      .filter(({ path }) => path.startsWith('assets/portal-'))
      .map((file) => ({ ...file, headers: { ...file.headers, 'cache-control': 'no-cache' } }))
    app.get<{ Params: { name: string } }>(
      '/portal/assets/:name(^portal-[\\w-]+\\.(?:js|css|json)$)', options,
      (request, reply) => {
        const [, stem = '', extension = ''] = /^(.*-)\w+(\.\w+)$/.exec(request.params.name) ?? []
        const similar = current.filter(({ path }) => path.endsWith(extension))
        // Names of text files contain the language. Unknown languages get the first file: English.
        const file = similar.find(({ path }) => path.startsWith(`assets/${stem}`)) ?? similar[0]
        return file === undefined ? reply.callNotFound() : send(request, reply, file)
      }
    )
  }
}

/**
 * Undoes changes by the host's hooks to a file and its security headers, but keeps compressed bodies. A route's hooks
 * run after the host's hooks, whenever the host adds them.
 */
function restoreFile (security: SecurityHeaders): onSendHookHandler<unknown> {
  return function (request, reply: ServingReply, _payload, done) {
    const file = reply[kFile]
    if (!file) return done()
    for (const [name, value] of Object.entries(security)) {
      // Helmet sets its headers on the raw response.
      if (value === null) reply.removeHeader(name).raw.removeHeader(name)
      else reply.header(name, value)
    }
    // Weak, because the host may compress.
    reply.headers({ ...file.headers, etag: `W/${file.tag}` })
    if (isKnown(request, file)) {
      reply.code(304).removeHeader('content-type')
      return done(null, '')
    }
    reply.code(200)
    if (reply.hasHeader('content-encoding')) return done()
    reply.removeHeader('content-length')
    done(null, file.body)
  }
}

function isKnown (request: FastifyRequest, { tag }: PortalFile): boolean {
  return hasTag(request.headers['if-none-match'], tag)
}

/** Headers of every file; `null` removes a header that the host set. */
type SecurityHeaders = Record<string, string | null>

/** Returns the headers that limit what the page can do and who can embed it. `frameAncestors` are CSP sources. */
function createSecurityHeaders (frameAncestors: readonly string[]): SecurityHeaders {
  const policy = {
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'connect-src': "'self'",
    // The page's empty icon.
    'img-src': 'data:',
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': frameAncestors.length === 0 ? "'none'" : frameAncestors.join(' '),
    'require-trusted-types-for': "'script'",
    'trusted-types': "'none'"
  }
  return {
    'content-security-policy': Object.entries(policy).map((directive) => directive.join(' ')).join('; '),
    // Otherwise, a page of another origin that opened this one could navigate it elsewhere.
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': frameOptionsOf(frameAncestors)
  }
}

/** Returns `null` if there are origins: `X-Frame-Options` cannot list them, so it would block them. */
function frameOptionsOf (frameAncestors: readonly string[]): string | null {
  if (frameAncestors.length === 0) return 'DENY'
  return frameAncestors.every((source) => source === "'self'") ? 'SAMEORIGIN' : null
}
