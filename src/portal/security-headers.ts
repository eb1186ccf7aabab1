/** Headers of every file; `null` for one that is removed if the host has set it. */
export type SecurityHeaders = Record<string, string | null>

/** Returns the headers that say what the page may do, and who may embed it. `frameAncestors` are sources of a policy. */
export function createSecurityHeaders (frameAncestors: readonly string[]): SecurityHeaders {
  const policy = {
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'connect-src': "'self'",
    // The empty icon of the page.
    'img-src': 'data:',
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': frameAncestors.length === 0 ? "'none'" : frameAncestors.join(' '),
    'require-trusted-types-for': "'script'",
    'trusted-types': "'none'"
  }
  return {
    'content-security-policy': Object.entries(policy).map((directive) => directive.join(' ')).join('; '),
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': frameOptionsOf(frameAncestors)
  }
}

/** The older header knows no origins, so it would forbid them. */
function frameOptionsOf (frameAncestors: readonly string[]): string | null {
  if (frameAncestors.length === 0) return 'DENY'
  return frameAncestors.every((source) => source === "'self'") ? 'SAMEORIGIN' : null
}
