import { type Logger, callHost } from './logger.js'
import type { AttemptResult, ClaimedDelivery } from '../ports/index.js'
import { showTenant, type TenantReference } from '../shared/tenants.js'

/** OpenTelemetry's context, which contains the active span. */
export interface TraceContext {
  getValue (key: symbol): unknown
  setValue (key: symbol, value: unknown): TraceContext
  deleteValue (key: symbol): TraceContext
}

/** Identifies a span across processes. */
export interface TraceSpanContext {
  /** 32 hexadecimal digits. */
  traceId: string
  /** 16 hexadecimal digits. */
  spanId: string
  traceFlags: number
  isRemote?: boolean | undefined
}

/** The methods of a span that this package calls. */
export interface TraceSpan {
  spanContext (): TraceSpanContext
  setAttribute (name: string, value: string | number): unknown
  setStatus (status: { code: number, message?: string }): unknown
  end (): void
}

/** The methods of a tracer that this package calls. */
export interface Tracer {
  startSpan(
    name: string,
    options: { kind: number; attributes: Record<string, string | number> },
    context: TraceContext
  ): TraceSpan
}

/**
 * The parts of `@opentelemetry/api` that this package uses. `import * as opentelemetry from '@opentelemetry/api'` fits.
 */
export interface OpenTelemetryApi {
  trace: {
    getTracer (name: string): Tracer
    getSpan (context: TraceContext): TraceSpan | undefined
    setSpan (context: TraceContext, span: TraceSpan): TraceContext
    setSpanContext (context: TraceContext, spanContext: TraceSpanContext): TraceContext
  }
  context: {
    active (): TraceContext
    with<T> (context: TraceContext, run: () => T): T
  }
  SpanKind: { CLIENT: number, PRODUCER: number }
  SpanStatusCode: { ERROR: number }
}

export type Tracing = ReturnType<typeof createTracing>

/**
 * Creates spans for emits and attempts, with a tracer named after this package. OpenTelemetry errors are logged, and
 * the emit or attempt continues without its span.
 */
export function createTracing ({ trace, context, SpanKind, SpanStatusCode }: OpenTelemetryApi, log: Logger) {
  const tracer = trace.getTracer('fastify-recruiting-api')

  function guard<Result> (call: () => Result): Result | undefined {
    return callHost(call, (err) => log.error({ err }, 'the option opentelemetry failed'))
  }

  function setError (span: TraceSpan, message?: string): void {
    guard(() => span.setStatus({ code: SpanStatusCode.ERROR, ...(message === undefined ? {} : { message }) }))
  }

  /** Calls `run` once, inside the span if possible. */
  function runWithin<Result> (span: TraceSpan, run: () => Promise<Result>): Promise<Result> {
    const started: Array<Promise<Result>> = []
    guard(() => context.with(trace.setSpan(context.active(), span), () => { started.push(run()) }))
    return started[0] ?? run()
  }

  function readTraceParent (span: TraceSpan | undefined): string | null {
    return formatTraceParent(guard(() => span?.spanContext?.()))
  }

  function parentOf ({ traceParent }: ClaimedDelivery): TraceContext {
    const parent = traceParent === null ? null : parseTraceParent(traceParent)
    return parent === null ? context.active() : trace.setSpanContext(context.active(), parent)
  }

  return {
    /** Sets attributes on the active span, if any: the request span of an instrumentation. */
    describeRequest (attributes: Record<string, string | null | undefined>): void {
      const span = guard(() => trace.getSpan(context.active()))
      for (const [name, value] of Object.entries(attributes)) if (value) guard(() => span?.setAttribute(name, value))
    },
    /**
     * Runs an emit in a new child of the active span, and passes it the new span's `traceparent`; `null` without one.
     */
    async emit<T extends { id: string }> (
      event: TenantReference & { type: string }, run: (traceParent: string | null) => Promise<T>
    ): Promise<T> {
      const { type } = event
      const attributes = { 'recruiting.tenant': showTenant(event), 'recruiting.event_type': type }
      const span = guard(() =>
        tracer.startSpan(`emit ${type}`, { kind: SpanKind.PRODUCER, attributes }, context.active())
      )
      if (span === undefined) return run(null)
      return runWithin(span, () => run(readTraceParent(span))).then((result) => {
        guard(() => span.setAttribute('recruiting.event_id', result.id))
        guard(() => span.end())
        return result
      }, (error: unknown) => {
        setError(span)
        guard(() => span.end())
        throw error
      })
    },
    /** Starts the span of an attempt, as a child of its emit. It is exported only if `end` is called. */
    startAttempt (delivery: ClaimedDelivery) {
      const { tenantSlug, eventId, eventType, webhookId, deliveryId, attemptCount } = delivery
      const span = guard(() => tracer.startSpan(`deliver ${eventType}`, {
        kind: SpanKind.CLIENT,
        attributes: {
          'recruiting.tenant': tenantSlug,
          'recruiting.event_id': eventId,
          'recruiting.event_type': eventType,
          'recruiting.webhook_id': webhookId,
          'recruiting.delivery_id': deliveryId,
          'recruiting.attempt': attemptCount + 1
        }
      }, parentOf(delivery)))
      return {
        traceParent: readTraceParent(span),
        end ({ outcome, responseStatus, error }: AttemptResult): void {
          if (span === undefined) return
          guard(() => span.setAttribute('recruiting.outcome', outcome))
          if (responseStatus !== null) guard(() => span.setAttribute('http.response.status_code', responseStatus))
          if (error !== null) setError(span, error)
          guard(() => span.end())
        }
      }
    }
  }
}

/** Formats the identity of a span as the header `traceparent` of W3C Trace Context; `null` if it identifies none. */
function formatTraceParent (span: TraceSpanContext | undefined): string | null {
  const text = `00-${span?.traceId}-${span?.spanId}-${Number(span?.traceFlags).toString(16).padStart(2, '0')}`
  return parseTraceParent(text) === null ? null : text
}

function parseTraceParent (text: string): TraceSpanContext | null {
  const [, traceId = '', spanId = '', flags = ''] =
    /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/.exec(text) ?? []
  return traceId === '' ? null : { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
}
