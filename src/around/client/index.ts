export {
  type Client,
  type ClientOptions,
  type EventsOptions,
  type Lists,
  type PostOptions,
  type SyncOptions,
  createClient
} from './client.js'
export { type ApiErrorDetail, ApiError } from './request.js'
export { type VerifyOptions, WebhookVerificationError, isNewer, verifyWebhook } from './verify-webhook.js'
export type * from './types.js'
