/** Every operation on webhooks and their deliveries needs both. */
export const webhookScopes = ['webhooks:read', 'webhooks:write']
