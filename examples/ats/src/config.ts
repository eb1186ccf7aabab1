import type { DeliveryOptions } from 'fastify-recruiting-api'

/** The settings of the server and the worker, from the environment. npm scripts read the file .env. */
export interface Config {
  databaseUrl: URL
  /** The port of this machine on which npm start runs PostgreSQL if nothing listens there; `null` for none. */
  localPort: string | null
  /** Encrypt the secrets of webhooks. */
  secretKeys: Buffer[]
  /** Encrypt the sessions of the portal. */
  portalKeys: Buffer[]
  host: string
  port: number
  isProduction: boolean
  /** Whether a developer is signed in, with sample data and a key. Never set it in production. */
  hasDeveloper: boolean
  delivery: DeliveryOptions
}

export function readConfig (env: NodeJS.ProcessEnv): Config {
  const isProduction = env['NODE_ENV'] === 'production'
  return {
    databaseUrl: readUrl(env, 'DATABASE_URL'),
    localPort: isProduction ? null : env['POSTGRES_PORT'] ?? null,
    secretKeys: readKeys(env, 'RECRUITING_SECRET_KEYS'),
    portalKeys: readKeys(env, 'PORTAL_SECRET_KEYS'),
    host: env['HOST'] ?? '127.0.0.1',
    port: readPort(env, 'PORT', 3000),
    isProduction,
    hasDeveloper: env['DEVELOPER_SIGN_IN'] === 'yes',
    delivery: {
      worker: env['DELIVERY'] !== 'no',
      // In production, webhooks must be public and https.
      ...(isProduction ? {} : { allowHttp: true, allowNetworks: ['127.0.0.0/8'] })
    }
  }
}

function readText (env: NodeJS.ProcessEnv, name: string): string {
  const text = env[name]
  if (text === undefined || text === '') {
    throw new Error(`${name}: missing, set it in the file .env or in the environment`)
  }
  return text
}

function readUrl (env: NodeJS.ProcessEnv, name: string): URL {
  try {
    return new URL(readText(env, name))
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    // It is not shown: it may contain a password.
    throw new Error(`${name}: expected a URL such as postgres://user:password@host/database`)
  }
}

function readKeys (env: NodeJS.ProcessEnv, name: string): Buffer[] {
  return readText(env, name).split(',').map((text) => {
    const key = Buffer.from(text, 'base64')
    if (key.length !== 32) throw new Error(`${name}: expected 32 bytes in base64, more keys after commas`)
    return key
  })
}

function readPort (env: NodeJS.ProcessEnv, name: string, usual: number): number {
  const port = Number(env[name] ?? usual)
  if (!Number.isInteger(port) || port < 0 || port > 65535) throw new Error(`${name}: expected a port, got ${env[name]}`)
  return port
}
