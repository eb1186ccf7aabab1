import type { AttemptDetail, AttemptError } from '../../ports/index.js'
import type { Outage } from '../recruiting.js'
import { InputError } from '../../shared/errors.js'
import { omitUndefined } from '../../shared/fields.js'
import { LruMap } from '../../shared/cached.js'
import { type Answer, Attempt, type Control, createConnections, kTimeout } from './attempt.js'
import { BlockedAddressError, createGuardedConnector } from '../ssrf/connector.js'
import { type TargetRules, parseTargetUrl } from '../ssrf/addresses.js'
import { NetworkError, noDescriptor } from '../ssrf/network.js'
import { type HttpProxy, ProxyError, createProxiedConnector } from '../ssrf/proxy.js'
import { createResolver, NameServerError, type Resolver } from '../ssrf/resolver.js'

export interface SendRequest {
  /** Tenants share the lookups of the system. @default requests without one share as one tenant */
  tenantId?: string
  /** An absolute URL. The result is `blocked` if the rules for targets do not allow it. */
  url: string
  /** The signature's and the webhook's own headers. Content headers are added. */
  headers: Record<string, string>
  /** Sent byte for byte. */
  body: string
  /** The deadline of the whole attempt, from the DNS lookup to the end of the response. */
  timeoutMs: number
  /** How many bytes of a textual response to keep, 0 to 4096. By default none. */
  excerptBytes?: number
}

export interface SendResult {
  /** `null` without a response. */
  responseStatus: number | null
  /** `null` for a 2xx; `aborted` after `abort`, which is not the endpoint's fault. */
  error: AttemptError | 'aborted' | null
  /** The cause of the error, if it is known. */
  detail?: AttemptDetail
  /** From the call of `send` to the end, including a second request after a stale connection. */
  durationMs: number
  responseExcerpt?: string
  /** The `Retry-After` header as received. */
  retryAfter?: string
  control?: Control
  /** Why the proxy could not reach the receiver, or does not allow it, for the log. */
  proxyFault?: string
  /** If this process could reach no endpoint: the result says nothing about this one. `error` is `connection`. */
  ownFault?: OwnFault
}

/** A fault of this process or its network. */
export type OwnFault = Pick<Outage, 'cause' | 'reason'>

/** How connections leave this machine. */
export interface Route {
  /** `null` to connect directly. */
  proxy: HttpProxy | null
  /** The address of this machine that connections come from; `null` if the system chooses it. */
  localAddress: string | null
}

/** Sends requests to endpoints over persistent connections. */
export interface Sender {
  /** Sends one request. Never rejects: errors are results. */
  send (request: SendRequest): Promise<SendResult>
  abort (): void
  /** Closes all connections. Call it when no request is in flight. */
  close (): Promise<void>
}

const contentHeaders = ['content-type', 'application/json', 'user-agent', 'fastify-recruiting-api']
const maxHeaderBytes = 16_384
const maxTargets = 1000
const kAborted = Symbol('aborted')

const direct: Route = { proxy: null, localAddress: null }

/** `timeoutMs` is the longest deadline of a request. `close` also closes the resolver. */
export function createSender (
  rules: TargetRules, timeoutMs: number, { proxy, localAddress }: Route = direct,
  resolver: Resolver = createResolver(rules, timeoutMs)
): Sender {
  const guard = { isAllowed: rules.isAllowedAddress, resolver, timeoutMs, localAddress }
  const proxied = proxy === null ? null : createProxiedConnector(guard, proxy)
  const connections = createConnections(proxied?.connect ?? createGuardedConnector(guard), {
    maxHeaderSize: maxHeaderBytes,
    keepAliveMaxTimeout: 60_000,
    // The deadline of an attempt covers these, and they restart with every byte.
    headersTimeout: 0,
    bodyTimeout: 0
  })
  const inFlight: Attempt[] = []
  // The rules never change. Checking a literal address for each delivery would cost more than signing it.
  const targets = new LruMap<URL>(maxTargets)

  return {
    send (request) {
      const startedAt = performance.now()
      let target: URL
      try {
        target = targets.getOrCreate(request.url, () => parseTargetUrl(request.url, rules))
      } catch (rejection) {
        return Promise.resolve(toResult(null, rejection, startedAt))
      }
      const { origin, href } = target
      const headers = [...contentHeaders]
      for (const [name, value] of Object.entries(request.headers)) headers.push(name, value)
      return new Promise((resolve) => {
        const post = {
          tenantId: request.tenantId ?? '',
          origin,
          path: href.slice(origin.length),
          headers,
          body: request.body,
          excerptBytes: request.excerptBytes ?? 0
        }
        const attempt = new Attempt(post, request.timeoutMs, connections, (answer, fault, isCertificateWanted) => {
          inFlight.splice(inFlight.indexOf(attempt), 1)
          resolve(toResult(answer, fault, startedAt, isCertificateWanted))
        })
        inFlight.push(attempt)
        attempt.start()
      })
    },

    abort () {
      for (const attempt of [...inFlight]) attempt.end(kAborted)
    },

    async close () {
      resolver.close()
      proxied?.close()
      await connections.close()
    }
  }
}

function toResult (
  answer: Answer | null, fault: unknown, startedAt: number, isCertificateWanted = false
): SendResult {
  const durationMs = Math.round(performance.now() - startedAt)
  if (answer === null) {
    const failed = { responseStatus: null, durationMs }
    const ownFault = findOwnFault(fault)
    if (ownFault !== undefined) return { ...failed, error: 'connection', ownFault }
    const error = nameError(fault)
    if (fault instanceof ProxyError) return { ...failed, error, proxyFault: fault.message }
    if (error !== 'tls' && error !== 'connection') return { ...failed, error }
    const detail = findDetail(fault)
    // Over TLS 1.3, the server only rejects the client after the handshake, often without an alert. If its own
    // certificate is invalid, it was not the server that ended the connection.
    if (isCertificateWanted && !detail?.startsWith('certificate_')) {
      return { ...failed, error: 'tls', detail: 'client_certificate_required' }
    }
    return { ...failed, error, ...omitUndefined({ detail }) }
  }
  const { status, retryAfter, control, excerpt } = answer
  const result: SendResult = { responseStatus: status, error: status <= 299 ? null : 'http_status', durationMs }
  const responseExcerpt = excerpt?.read()
  if (retryAfter !== undefined) result.retryAfter = retryAfter
  if (control !== undefined) result.control = control
  if (responseExcerpt !== undefined) result.responseExcerpt = responseExcerpt
  return result
}

function findOwnFault (error: unknown): OwnFault | undefined {
  if (error instanceof NameServerError) return { cause: 'name_server', reason: error.message }
  if (error instanceof NetworkError) return { cause: 'network', reason: error.message }
  if (error instanceof ProxyError) return error.blames === 'proxy' ? { cause: 'proxy', reason: error.message } : undefined
  const code = String((error as { code?: unknown } | null)?.code)
  return noDescriptor.has(code) ? { cause: 'descriptors', reason: code } : undefined
}

/** Node's codes, and those of OpenSSL for invalid certificates. */
const tlsCode =
  /^(ERR_TLS|ERR_SSL|CERT_|CRL_|UNABLE_TO_|ERROR_IN_C|SELF_SIGNED|DEPTH_ZERO|INVALID_|PATH_LENGTH|HOSTNAME_|EPROTO|UNSPECIFIED)/

/** Codes of undici, of name servers and of the system. */
const timeoutCodes = new Set(['UND_ERR_CONNECT_TIMEOUT', 'ETIMEOUT', 'ETIMEDOUT'])

function nameError (error: unknown): AttemptError | 'aborted' {
  if (error === kTimeout) return 'timeout'
  if (error === kAborted) return 'aborted'
  if (error instanceof BlockedAddressError || error instanceof InputError) return 'blocked'
  if (error instanceof ProxyError) return error.blames === 'policy' ? 'blocked' : 'connection'
  const code = String((error as { code?: unknown } | null)?.code)
  if (timeoutCodes.has(code)) return 'timeout'
  return tlsCode.test(code) ? 'tls' : 'connection'
}

/** The details by their codes. The first that fits applies. */
const details: ReadonlyArray<readonly [AttemptDetail, RegExp]> = [
  ['certificate_expired', /^CERT_HAS_EXPIRED$/],
  ['certificate_not_yet_valid', /^CERT_NOT_YET_VALID$/],
  ['certificate_wrong_name', /^(ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH|ERR_SSL_TLSV1_UNRECOGNIZED_NAME)$/],
  ['certificate_self_signed', /^DEPTH_ZERO_SELF_SIGNED_CERT$/],
  ['certificate_incomplete', /^UNABLE_TO_VERIFY_LEAF_SIGNATURE$/],
  ['certificate_untrusted', /^(CERT_|CRL_|UNABLE_TO_|ERROR_IN_C|SELF_SIGNED|INVALID_|PATH_LENGTH)/],
  ['tls_version', /^ERR_SSL_(.*_ALERT_PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL)$/],
  ['http2_only', /^ERR_SSL_.*_ALERT_NO_APPLICATION_PROTOCOL$/],
  ['tls_rejected', /^ERR_SSL_.*_ALERT_/],
  ['tls_missing', /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)$/],
  ['unknown_host', /^(ENOTFOUND|ENODATA|ESERVFAIL|EREFUSED|EBADNAME|EAI_.*)$/],
  ['refused', /^ECONNREFUSED$/],
  ['reset', /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/],
  ['unreachable', /^(ENETUNREACH|EHOSTUNREACH|EHOSTDOWN)$/],
  ['invalid_response', /^(HPE_.*|UND_ERR_HEADERS_OVERFLOW)$/]
]

function findDetail (fault: unknown): AttemptDetail | undefined {
  const { code, data, name } = Object(fault) as { code?: unknown, data?: unknown, name?: unknown }
  if (name === 'HTTPParserError') {
    // HTTP/2's first frame is of type 4. Its length comes first.
    const { 0: length, 3: type } = String(data)
    return length === '\0' && type === '\u0004' ? 'http2_only' : 'invalid_response'
  }
  return details.find(([, codes]) => codes.test(String(code)))?.[0]
}
