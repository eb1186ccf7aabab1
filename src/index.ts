export { recruitingApi, recruitingApi as default } from './plugin.js'
export { createRecruiting } from './create-recruiting.js'
export type { Recruiting, StandaloneRecruiting } from './recruiting.js'
export { RecruitingApiError, type RecruitingApiErrorCode, isRecruitingApiError } from './core/shared/errors.js'
export { type CacheKeyLookupOptions, cacheKeyLookup } from './core/keys/cache.js'
export { apiScopes } from './core/api/scopes.js'
export { apiKeyPattern, generateApiKey, hashApiKey, isApiKey } from './core/keys/api-key.js'
export {
  type DefaultEvents,
  type EventCatalogue,
  type EventData,
  type Register,
  type WebhookEvent,
  defaultEvents, webhookEvents
} from './core/api/catalogue.js'
export { type ErrorDetail, HttpError, type WireErrorCode } from './core/http/wire-errors.js'
export {
  type ListOptions, type OwnList, type OwnRows, type OwnSync, type OwnSyncPage, defineList
} from './core/http/define-list.js'
export type { AuditEntry, AuditListener, AuditedResource } from './core/observe/audit.js'
export type { RecruitingRoutes } from './core/http/host-routes.js'
export type { ApiCaller, VisibleFields } from './core/http/request.js'
export type { InjectedOptions, PluginOptions, RecruitingApiOptions, RecruitingOptions } from './options.js'
export type { DeliveryOptions, LimitedTenant, ProxyOptions } from './core/webhooks/options.js'
export type {
  OpenApiInfo, OpenApiOptions, OpenApiServer, RateLimitBudget, RateLimitCaller, RateLimitOptions
} from './core/http/options.js'
export type { McpOptions } from './around/mcp/options.js'
export type { PortalOptions, PortalTheme } from './around/portal/options.js'
export type { SecretContext, SecretFunctions, SecretKeys } from './core/shared/sealing.js'
export type { Deprecation } from './core/shared/deprecation.js'
export type { TenantArgument, TenantIdLookup, TenantReference, TenantSlugLookup } from './core/shared/tenants.js'
export type { ToolConfig } from './around/mcp/tools.js'
export type { TypeBoxObject, TypeBoxSchema } from './core/shared/typebox.js'
export type { OpenTelemetryApi, TraceContext, TraceSpan, TraceSpanContext, Tracer } from './core/observe/tracing.js'
export type {
  ActorCalls, AdoptCall, AttemptCounts, ChangedResource, CreateWebhookInput, EmitOptions, EmitResult, EmittedEvent,
  ErasedSubject, FoundEvent, ImportWebhookInput, ListDeliveriesQuery, ListFailingQuery, ListWebhooksQuery, Outage,
  PreviewWebhookInput, RecruitingEvents, RecruitingStats, RecruitingWebhooks, ReplayInput, RotateSecretInput,
  SendTestInput, UpdateWebhookInput
} from './core/webhooks/recruiting.js'
export type { Page } from './core/shared/paging.js'
export { createFilterTest } from './core/shared/fields.js'
export type {
  AttemptMessage, DisableMessage, EmitMessage, GiveUpMessage, OutageMessage, PauseMessage, RetryMessage
} from './core/webhooks/diagnostics.js'
export { type MetricRegistry, collectMetrics } from './core/webhooks/metrics.js'
export type { RecruitingHealth } from './core/webhooks/diagnostics.js'
export type { PortalCapability } from './core/http/sessions.js'
export type { PortalMessages } from './around/portal/messages.js'
export type { PortalSession, PortalSessionInput, RecruitingPortal } from './around/portal/session.js'
export type { Logger } from './core/observe/logger.js'
export { Candidate, Job } from './core/api/rows.js'
export { attemptDetails } from './core/api/deliveries.js'
export {
  CreateWebhook,
  CreatedWebhook,
  RotatedWebhook,
  UpdateWebhook,
  Webhook,
  WebhookWithHealth
} from './core/api/webhooks.js'
export { Delivery, DeliveryWithAttempts } from './core/api/deliveries.js'
export type * from './core/ports/index.js'
