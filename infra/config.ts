import ipaddr from 'ipaddr.js'
import { ALLOW_NOTHING, type CallbackAllow } from '../core/callback-address.ts'
import type { Limits } from '../core/limits.ts'
import { brokenTimingRules, type Timing } from '../core/timing.ts'
import { ENVIRONMENT, TIMING_FIELDS, variableName } from './environment.ts'
import type { TracingOptions } from './tracing/start.ts'

/** The configuration of a process: its environment, read once and checked as a whole. */
export interface Config {
  databaseUrl: string
  /** null: the queue is a table of the database. */
  queueUrl: string | null
  /** null: objects are files below {@link dataDir}. */
  s3Bucket: string | null
  /** Set for emulators; the real AWS otherwise. Wins over the host inside a queue's URL. */
  awsEndpointUrl: string | null
  dataDir: string
  host: string
  port: number
  /** Where metrics are told, on the same host. */
  metricsPort: number
  /** null: not said; see {@link authMode}. */
  auth: 'keys' | 'none' | null
  /** Of pages whose scripts may use the API. */
  corsOrigins: string[]
  /** Receivers of callbacks that need not be public. */
  callbackAllow: CallbackAllow
  logLevel: string
  /** null: nothing is traced. */
  tracing: TracingOptions | null
  /** Whether uploads have to have an Idempotency-Key. */
  idempotencyRequired: boolean
  limits: Limits
  concurrency: number
  /** The file of presets; null: the built-in one only. */
  presetsFile: string | null
  /** null: pictures are judged by nobody. */
  moderation: { url: string; timeoutMs: number } | null
  /** Whether results say where a picture was taken. */
  exposeGps: boolean
  budget: number
  timing: Timing
}

/** An environment that no process starts with; its message names the variables. */
export class ConfigError extends Error {
  constructor(sentences: readonly string[]) {
    super(sentences.join(' '))
    this.name = 'ConfigError'
  }
}

/**
 * Reads the configuration of one app.
 *
 * @param env usually `process.env`; a variable that is set to nothing counts as missing
 * @param defaultPort where the app listens unless `PORT` says otherwise
 * @throws {ConfigError} naming each variable that is wrong or missing
 */
export function readConfig(env: NodeJS.ProcessEnv, defaultPort: number): Config {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const parsed = ENVIRONMENT.safeParse(set)
  if (!parsed.success) {
    throw new ConfigError(parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}.`))
  }
  const values = parsed.data
  const timing = Object.fromEntries(
    TIMING_FIELDS.map((field) => [field, (values as Record<string, unknown>)[variableName(field)]]),
  ) as unknown as Timing
  const broken = brokenTimingRules(timing)
  if (broken.length > 0) throw new ConfigError(broken.map((rule) => `The timing breaks a rule: ${rule}.`))
  if (values.MODERATION_URL && values.MODERATION_TIMEOUT_MS >= timing.attemptMs) {
    throw new ConfigError([
      'MODERATION_TIMEOUT_MS has to be less than ATTEMPT_MS: a moderator that hangs would be the attempt’s fault.',
    ])
  }
  const port = values.PORT ?? defaultPort
  return {
    databaseUrl: values.DATABASE_URL,
    queueUrl: values.QUEUE_URL ?? null,
    s3Bucket: values.S3_BUCKET ?? null,
    awsEndpointUrl: values.AWS_ENDPOINT_URL ?? null,
    dataDir: values.DATA_DIR,
    host: values.HOST,
    port,
    metricsPort: values.METRICS_PORT ?? metricsPortBeside(port),
    auth: values.AUTH ?? null,
    corsOrigins: values.CORS_ORIGINS ?? [],
    callbackAllow: values.CALLBACK_ALLOW ?? ALLOW_NOTHING,
    logLevel: values.LOG_LEVEL,
    tracing: values.OTEL_EXPORTER_OTLP_ENDPOINT
      ? { endpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT, ratio: values.OTEL_TRACES_SAMPLER_ARG }
      : null,
    idempotencyRequired: values.IDEMPOTENCY === 'required',
    limits: {
      maxBytes: values.MAX_UPLOAD_BYTES,
      maxPixels: values.MAX_PIXELS,
      maxFrames: values.MAX_FRAMES,
      maxAnimatedPixels: values.MAX_ANIMATED_PIXELS,
      acceptSvg: values.ACCEPT_SVG === 'true',
    },
    concurrency: values.CONCURRENCY,
    presetsFile: values.PRESETS ?? null,
    moderation: values.MODERATION_URL
      ? { url: values.MODERATION_URL, timeoutMs: values.MODERATION_TIMEOUT_MS }
      : null,
    exposeGps: values.EXPOSE_GPS === 'true',
    budget: values.MAX_ATTEMPTS,
    timing,
  }
}

/**
 * Whether the API asks for keys. It may leave them out by itself only where nobody but this machine can reach it;
 * elsewhere somebody has to have said so.
 *
 * @throws {ConfigError} when `AUTH` is not set and `HOST` is no loopback address
 */
export function authMode({ auth, host }: Pick<Config, 'auth' | 'host'>): 'keys' | 'none' {
  if (auth) return auth
  if (isLoopback(host)) return 'none'
  throw new ConfigError([
    `AUTH is missing: HOST is ${host}, which others may reach. Set AUTH to keys (img42 keys create makes one), or to none if everybody who reaches it may use it.`,
  ])
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || (ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback')
}

/** Apps side by side on one host have ports of their own, and so do their metrics. */
function metricsPortBeside(port: number): number {
  if (port === 0) return 0
  if (port + METRICS_PORT_OFFSET <= 65_535) return port + METRICS_PORT_OFFSET
  throw new ConfigError([
    `METRICS_PORT is missing: ${METRICS_PORT_OFFSET} above PORT, ${port}, there is no port.`,
  ])
}

const METRICS_PORT_OFFSET = 1_000
