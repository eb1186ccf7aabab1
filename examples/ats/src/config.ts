import type { DeliveryOptions } from 'fastify-recruiting-api'

/** The server's and the worker's settings, from the environment. npm scripts read the file .env. */
export interface Config {
  databaseUrl: URL
  /** The local port where npm start runs PostgreSQL unless a program listens there; `null` for none. */
  localPort: string | null
  /** Encrypt webhook secrets. */
  secretKeys: Buffer[]
  /** Encrypt portal sessions. */
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
    // The message omits the value, which may contain a password.
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
