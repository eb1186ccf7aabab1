export { recruitingApi, recruitingApi as default } from './plugin.js'
export { type Recruiting, type StandaloneRecruiting, createRecruiting } from './create-recruiting.js'
export { RecruitingApiError, type RecruitingApiErrorCode, isRecruitingApiError } from './errors.js'
export { type CacheKeyLookupOptions, cacheKeyLookup } from './keys/cache.js'
export { apiKeyPattern, apiScopes, generateApiKey, hashApiKey, isApiKey } from './keys/api-key.js'
export {
  type DefaultEvents,
  type EventCatalogue,
  type EventData,
  type Register,
  type WebhookEvent,
  defaultEvents
} from './webhooks/events/catalogue.js'
export { type ErrorDetail, HttpError, type WireErrorCode } from './http/wire-errors.js'
export { type ListOptions, type OwnList, defineList } from './http/define-list.js'
export type { AuditEntry, AuditListener, AuditedResource } from './observe/audit.js'
export type { HostRoutes } from './http/host-routes.js'
export type { ApiCaller, VisibleFields } from './http/request.js'
export type { RecruitingApiOptions, RecruitingOptions } from './options.js'
export type { DeliveryOptions, LimitedTenant, ProxyOptions } from './webhooks/options.js'
export type {
  OpenApiInfo,
  OpenApiOptions,
  OpenApiServer,
  RateLimitBudget,
  RateLimitCaller,
  RateLimitOptions
} from './http/options.js'
export type { McpOptions } from './mcp/options.js'
export type { PortalOptions, PortalTheme } from './portal/options.js'
export type { SecretContext, SecretFunctions, SecretKeys } from './shared/sealing.js'
export type { Deprecation } from './shared/deprecation.js'
export type { TenantArgument, TenantIdLookup, TenantReference, TenantSlugLookup } from './shared/tenants.js'
export type { ToolConfig } from './mcp/tools.js'
export type { TypeBoxObject, TypeBoxSchema } from './shared/typebox.js'
export type { OpenTelemetryApi, TraceContext, TraceSpan, TraceSpanContext, Tracer } from './observe/tracing.js'
export type {
  ActorCalls,
  AttemptCounts,
  CreateWebhookInput,
  EmitOptions,
  EmitResult,
  EmittedEvent,
  ErasedSubject,
  FoundEvent,
  ImportWebhookInput,
  ListDeliveriesQuery,
  ListFailingQuery,
  ListWebhooksQuery,
  Outage,
  RecruitingEvents,
  RecruitingStats,
  RecruitingWebhooks,
  ReplayInput,
  RotateSecretInput,
  SendTestInput,
  UpdateWebhookInput
} from './webhooks/recruiting.js'
export type { Page } from './shared/paging.js'
export { createFilterTest } from './shared/fields.js'
export type {
  AttemptMessage,
  DisableMessage,
  EmitMessage,
  GiveUpMessage,
  OutageMessage,
  PauseMessage,
  RetryMessage
} from './webhooks/diagnostics.js'
export type { RecruitingHealth } from './webhooks/diagnostics.js'
export type { PortalCapability } from './http/sessions.js'
export type { PortalMessages } from './portal/messages.js'
export type { PortalSession, PortalSessionInput, RecruitingPortal } from './portal/session.js'
export type { Logger } from './observe/logger.js'
export { Candidate } from './http/routes/candidates.js'
export { Job } from './http/routes/jobs.js'
export {
  CreateWebhook,
  CreatedWebhook,
  Delivery,
  DeliveryWithAttempts,
  RotatedWebhook,
  UpdateWebhook,
  Webhook,
  WebhookWithHealth
} from './webhooks/schemas.js'
export type * from './ports/index.js'
