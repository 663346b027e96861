import { isIP } from 'node:net'
import { availableParallelism } from 'node:os'
import { z } from 'zod'
import { ALLOW_NOTHING, parseCallbackAllow } from '../core/callback-address.ts'
import { DEFAULT_LIMITS } from '../core/limits.ts'
import { DEFAULT_TIMING, type Timing } from '../core/timing.ts'

/** A variable as the README's table shows it. */
export interface Variable {
  name: string
  default: string
  unit: string
  meaning: string
}

/** Every variable, in the order of the README's table. */
export function describeVariables(): Variable[] {
  return Object.entries(ENVIRONMENT.shape).map(([name, schema]) => {
    const {
      default: shown,
      unit,
      meaning,
    } = schema.meta() as { default: string; unit?: string; meaning: string }
    return { name, default: shown, unit: unit ?? '', meaning }
  })
}

/** `heartbeatMs` → `HEARTBEAT_MS`. */
export function variableName(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()
}

/** Decimal digits and nothing else: `1e3`, `0x10` and a blank are numbers to JavaScript, and slips here. */
const whole = (least: number, most: number) => {
  const error = () => `has to be a whole number from ${least} to ${most}`
  return z
    .string({ error })
    .regex(/^\d{1,15}$/, { error })
    .transform(Number)
    .pipe(z.number().min(least, { error }).max(most, { error }))
}

const origins = z.string().transform((text, context) => {
  const listed = text.split(',').map((origin) => origin.trim())
  if (!listed.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin)) {
    context.addIssue(
      'has to be origins with commas between them, such as https://app.example.com,http://localhost:3000',
    )
  }
  return listed
})

const callbackAllow = z.string().transform((text, context) => {
  const allow = parseCallbackAllow(text)
  if (!allow) {
    context.addIssue(
      'has to be host names, addresses and ranges with commas between them, such as hooks.internal,10.0.0.0/8',
    )
  }
  return allow ?? ALLOW_NOTHING
})

const url = (protocol: RegExp, example: string) =>
  z.url({
    protocol,
    error: (issue) => (issue.input === undefined ? 'is missing' : `has to be a URL such as ${example}`),
  })

export const TIMING_FIELDS = Object.keys(DEFAULT_TIMING) as (keyof Timing)[]

const TIMING_MEANING: Record<keyof Timing, string> = {
  heartbeatMs: 'how often a worker renews what it holds',
  leaseMs: 'how long a claim holds a job without a heartbeat',
  visibilitySeconds: 'how long the queue hides a received message; the queue itself has to be set the same',
  graceMs: 'how long after a lease ran out a redelivery is waited for',
  republishAgeMs: 'how long a QUEUED job goes without a sign before it may count as lost',
  evidenceMs: 'how much later another job has to be published and claimed to show that one is lost',
  attemptMs: 'the longest that one attempt takes',
  backoffBaseMs: 'the first wait after a failed attempt, at most',
  backoffCapMs: 'any later wait, at most',
  pollSeconds: 'how long one receive waits',
  drainMs: 'how long a stopping worker lets its attempts go on',
  stopGraceMs: 'what the platform leaves between SIGTERM and SIGKILL',
  deadlineMs: 'how long a job may wait and be retried',
  reservationMs: 'how long a dead upload keeps its idempotency key',
  uploadMs: 'the longest that an upload takes',
  outboxLeaseMs: 'how long a relay has to send what it claimed',
  relayPollMs: 'how often the relay looks without being woken',
  sweepMs: 'how often the reconciler sweeps',
  callMs: 'the deadline of a call to the database or the queue',
  storeCallMs: 'the deadline of a call to the object store, body included',
  resultRetentionMs: 'how long a finished job’s objects are kept',
  tombstoneRetentionMs: 'how long it answers 410 after that',
  orphanAgeMs: 'how old an object without a job is when it is swept',
  queueRetentionMs: 'how long the queue keeps a message',
  deadLetterRetentionMs: 'how long the dead-letter queue keeps a message',
}

const timingVariables = Object.fromEntries(
  TIMING_FIELDS.map((field) => [
    variableName(field),
    whole(1, 2_592_000_000)
      .default(DEFAULT_TIMING[field])
      .meta({
        default: String(DEFAULT_TIMING[field]),
        unit: field.endsWith('Seconds') ? 's' : 'ms',
        meaning: TIMING_MEANING[field],
      }),
  ]),
)

/** Every variable that a process reads, what it may be, and what it means. */
export const ENVIRONMENT = z.object({
  DATABASE_URL: url(/^postgres(ql)?$/, 'postgres://user:password@host:5432/img42').meta({
    default: 'embedded with `npm start`, required elsewhere',
    meaning: 'the Postgres that holds the jobs',
  }),
  QUEUE_URL: url(/^https?$/, 'https://sqs.eu-central-1.amazonaws.com/123456789012/img42-jobs')
    .optional()
    .meta({
      default: 'a table of the database',
      meaning: 'the SQS queue; its redrive policy names the dead-letter queue',
    }),
  S3_BUCKET: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, { error: () => 'has to be a bucket’s name' })
    .optional()
    .meta({ default: 'files below `DATA_DIR`', meaning: 'the S3 bucket for originals and outputs' }),
  AWS_ENDPOINT_URL: url(/^https?$/, 'http://localhost:4566')
    .optional()
    .meta({ default: 'AWS', meaning: 'an emulator of SQS and S3; wins over the host in `QUEUE_URL`' }),
  DATA_DIR: z
    .string()
    .default('.img42')
    .meta({ default: '`.img42`', meaning: 'where the embedded default keeps everything' }),
  HOST: z
    .string()
    .refine((host) => isIP(host) !== 0 || /^(?=.{1,253}$)[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(host), {
      error: () => 'has to be an address or a name of this machine, such as 0.0.0.0',
    })
    .default('127.0.0.1')
    .meta({ default: '127.0.0.1', meaning: 'the address that is listened on' }),
  PORT: whole(0, 65_535).optional().meta({
    default: '8080 (worker 8081, reconciler 8082)',
    meaning: 'where the app answers; 0 for any free port',
  }),
  METRICS_PORT: whole(0, 65_535).optional().meta({
    default: 'PORT + 1000',
    meaning: 'where the app tells its metrics, see docs/metrics.md; never to be published',
  }),
  AUTH: z
    .enum(['keys', 'none'], { error: () => 'has to be keys or none' })
    .optional()
    .meta({
      default: 'none on a loopback `HOST`, required elsewhere',
      meaning: 'whether the API asks for keys; without them, whoever reaches it may use it',
    }),
  CORS_ORIGINS: origins.optional().meta({
    default: 'none',
    meaning: 'the origins, with commas between them, whose pages may use the API from a browser',
  }),
  CALLBACK_ALLOW: callbackAllow.optional().meta({
    default: 'none',
    meaning: 'where callbacks may go that is not public: names, addresses, ranges, with commas',
  }),
  IDEMPOTENCY: z
    .enum(['required', 'optional'], { error: () => 'has to be required or optional' })
    .default('optional')
    .meta({ default: 'optional', meaning: 'whether an upload has to have an Idempotency-Key' }),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal'], {
      error: () => 'has to be one of trace, debug, info, warn, error and fatal',
    })
    .default('info')
    .meta({ default: 'info', meaning: 'the least level that is logged' }),
  OTEL_EXPORTER_OTLP_ENDPOINT: url(/^https?$/, 'http://collector:4318')
    .optional()
    .meta({
      default: 'nothing is traced',
      meaning: 'where traces go, by OTLP over HTTP; OTEL_EXPORTER_OTLP_HEADERS is sent along',
    }),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(0|1|0?\.\d{1,6})$/, { error: () => 'has to be a share from 0 to 1, such as 0.1' })
    .transform(Number)
    .default(1)
    .meta({ default: '1', meaning: 'the share of new traces that is kept; a client’s own keeps its answer' }),
  MAX_UPLOAD_BYTES: whole(1, 5_000_000_000)
    .default(DEFAULT_LIMITS.maxBytes)
    .meta({ default: String(DEFAULT_LIMITS.maxBytes), unit: 'bytes', meaning: 'the largest original' }),
  MAX_PIXELS: whole(1, 1_000_000_000)
    .default(DEFAULT_LIMITS.maxPixels)
    .meta({
      default: String(DEFAULT_LIMITS.maxPixels),
      unit: 'pixels',
      meaning: 'the largest image, of one frame',
    }),
  MAX_FRAMES: whole(1, 100_000)
    .default(DEFAULT_LIMITS.maxFrames)
    .meta({ default: String(DEFAULT_LIMITS.maxFrames), unit: 'frames', meaning: 'the longest animation' }),
  MAX_ANIMATED_PIXELS: whole(1, 10_000_000_000)
    .default(DEFAULT_LIMITS.maxAnimatedPixels)
    .meta({
      default: String(DEFAULT_LIMITS.maxAnimatedPixels),
      unit: 'pixels',
      meaning: 'the largest animation, over all of its frames',
    }),
  CONCURRENCY: whole(1, 256)
    .default(availableParallelism())
    .meta({ default: 'the number of cores', meaning: 'how many images one worker renders at once' }),
  PRESETS: z.string().optional().meta({
    default: 'the built-in `thumbnail`',
    meaning: 'the JSON file of presets that requests choose from, see docs/presets.md',
  }),
  MODERATION_URL: url(/^https?$/, 'https://moderator.example/judge')
    .refine((text) => new URL(text).username === '' && new URL(text).password === '', {
      error: () => 'has to be a URL without a user name and a password',
    })
    .optional()
    .meta({ default: 'no moderator', meaning: 'who judges each picture, see docs/moderation.md' }),
  MODERATION_TIMEOUT_MS: whole(1, 3_600_000)
    .default(10_000)
    .meta({ default: '10000', unit: 'ms', meaning: 'the longest wait for its verdict' }),
  ACCEPT_SVG: z
    .enum(['true', 'false'], { error: () => 'has to be true or false' })
    .default('false')
    .meta({
      default: 'false',
      meaning: 'whether SVG is accepted; it is drawn without fonts, files and network',
    }),
  EXPOSE_GPS: z
    .enum(['true', 'false'], { error: () => 'has to be true or false' })
    .default('false')
    .meta({
      default: 'false',
      meaning: 'whether a job’s facts say where its picture was taken; outputs never do',
    }),
  MAX_ATTEMPTS: whole(1, 100).default(5).meta({ default: '5', meaning: 'a job’s budget of attempts' }),
  ...timingVariables,
})
