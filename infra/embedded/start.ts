/**
 * `npm start`: the whole of img42 on one machine, with a Postgres of its own, until Ctrl-C.
 *
 * `--once` ends after the sample image's story, with exit code 0 if it succeeded. `--emulate-aws` puts SQS and S3 in
 * the place of the queue's table and the files. The variables of the README's table apply; with `DATABASE_URL`, no
 * Postgres is started.
 */
import { rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import path from 'node:path'
import { styleText } from 'node:util'
import { migrateToLatest } from '../../db/migrate.ts'
import { authMode, type Config, ConfigError, readConfig } from '../config.ts'
import { databaseUrlFile, makeDataDir } from '../data-dir.ts'
import { listen } from '../health.ts'
import { readPresets } from '../presets.ts'
import { type Ports, startApp } from './children.ts'
import { holdLock, LockHeldError } from './lock.ts'
import { startPostgres } from './postgres.ts'
import { tellStory } from './story.ts'

const ROOT = path.dirname(path.dirname(import.meta.dirname))
const STORY_MS = 60_000

const { once, emulateAws } = readArguments(process.argv.slice(2))
const config = readEnvironment(emulateAws)
const dataDir = path.resolve(config.dataDir)

/** `--once` promises a story: one that was cut short is no success. */
const INTERRUPTED = once ? 1 : 0

/** What was started, to be stopped the other way round. */
const started: { name: string; stop(): Promise<void> | void }[] = []
let stopping: Promise<void> | null = null

// The terminal may go away before this process does, and a line that nobody reads is no reason to end.
process.stdout.on('error', () => {})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (!stopping) note('stopping …')
    stop(INTERRUPTED)
  })
}
// On an old Node, infra/run.mjs starts this process, and may be killed.
process.on('disconnect', () => stop(INTERRUPTED))
process.on('uncaughtException', fail)
process.on('unhandledRejection', fail)

try {
  await start()
} catch (error) {
  fail(error)
}

async function start(): Promise<void> {
  lockDataDir()
  await checkPort(config.host, config.port, 'PORT')
  await checkPort(config.host, config.metricsPort, 'METRICS_PORT')
  // Here the sentence is seen; the API's own goes to its log.
  await readPresets(config.presetsFile)
  say(styleText('bold', 'img42'))
  const { databaseUrl, place } = await startDatabase()
  leaveDatabaseUrl(databaseUrl)
  const env = {
    ...process.env,
    ...(await emulation()),
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataDir,
  }
  // The API is stopped first: whatever it has accepted finds the others still at work.
  const anywhere = { PORT: '0', METRICS_PORT: '0' }
  const [reconciler, worker, api] = await Promise.all([
    startChild('reconciler', { ...env, ...anywhere }),
    startChild('worker', { ...env, ...anywhere }),
    startChild('api', { ...env, PORT: String(config.port), METRICS_PORT: String(config.metricsPort) }),
  ])
  const origin = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}`
  const apiUrl = `${origin}:${api.port}`
  introduce(
    apiUrl,
    place,
    [api, worker, reconciler].map((app) => `${origin}:${app.metricsPort}/metrics`),
  )

  const succeeded = await tellStory({
    ...{ apiUrl, databaseUrl, patienceMs: STORY_MS, say: sayWhileUp },
    asksForKey: authMode(config) === 'keys',
  })
  if (once) return stop(succeeded ? 0 : 1)
  say('')
  say(styleText('dim', 'Ctrl-C stops it.'))
}

async function startDatabase(): Promise<{ databaseUrl: string; place: string }> {
  if (process.env.DATABASE_URL) {
    await migrateToLatest(process.env.DATABASE_URL)
    return { databaseUrl: process.env.DATABASE_URL, place: 'the Postgres of DATABASE_URL' }
  }
  const postgres = await startPostgres({ dataDir, log: note })
  keep('Postgres', postgres)
  postgres.gone.then(() => fail(new Error('Postgres is gone, and its guardian with it.')))
  // The emulator forgets, so a database that remembered would speak of objects that are not there.
  const databaseUrl = emulateAws ? await postgres.emptyDatabase('img42_emulated_aws') : postgres.url
  await migrateToLatest(databaseUrl)
  return { databaseUrl, place: `Postgres, in ${shown(postgres.folder)}` }
}

/** For `npm run img42`, which has no other way to learn the port. */
function leaveDatabaseUrl(databaseUrl: string): void {
  const file = databaseUrlFile(dataDir)
  // A file that is there keeps its mode.
  rmSync(file, { force: true })
  writeFileSync(file, `${databaseUrl}\n`, { mode: 0o600 })
  keep('database-url', { stop: () => rmSync(file, { force: true }) })
}

/** The variables that make the apps use emulated SQS and S3, if they are to. */
async function emulation(): Promise<Record<string, string>> {
  if (!emulateAws) return {}
  const { startEmulator } = await import('./emulator.ts')
  const emulator = await startEmulator(config.timing)
  keep('emulator', emulator)
  return emulator.env
}

function startChild(name: string, env: NodeJS.ProcessEnv): Promise<Ports> {
  const app = startApp({
    name,
    entry: path.join(ROOT, 'apps', name, 'main.ts'),
    env,
    logFile: path.join(dataDir, 'logs', `${name}.log`),
    stopGraceMs: config.timing.stopGraceMs,
    log: note,
  })
  keep(name, app)
  return app.listening
}

function introduce(apiUrl: string, database: string, metrics: readonly string[]): void {
  const parts = {
    api: apiUrl,
    database,
    queue: emulateAws ? 'SQS, emulated' : (config.queueUrl ?? 'a table of the database'),
    objects: emulateAws ? 'S3, emulated' : (config.s3Bucket ?? `files, in ${shown(dataDir)}`),
    logs: shown(path.join(dataDir, 'logs')),
    metrics: metrics.join(' '),
  }
  for (const [part, place] of Object.entries(parts)) {
    say(`  ${styleText('dim', part.padEnd(8))}  ${place}`)
  }
  say('')
}

function lockDataDir(): void {
  makeDataDir(dataDir)
  try {
    const lock = holdLock(path.join(dataDir, 'lock'))
    keep('lock', { stop: lock.release })
  } catch (error) {
    if (!(error instanceof LockHeldError)) throw error
    const holder = error.pid === null ? 'another process' : `process ${error.pid}`
    throw new Error(
      `${shown(dataDir)} is in use by ${holder}. Stop that one, or set DATA_DIR to another folder.`,
    )
  }
}

/** Asked before anything is started, so that a taken port is said at once. */
async function checkPort(host: string, port: number, variable: string): Promise<void> {
  const server = createServer()
  await listen(server, host, port, variable)
  await new Promise((resolve) => server.close(resolve))
}

function keep(name: string, { stop }: { stop(): Promise<void> | void }): void {
  started.push({ name, stop })
}

function stop(exitCode: number): Promise<void> {
  stopping ??= (async () => {
    for (const { name, stop } of started.reverse()) {
      try {
        await stop()
      } catch (error) {
        note(`${name} did not stop in order: ${(error as Error).message}`)
      }
    }
    process.exit(exitCode)
  })()
  return stopping
}

function fail(error: unknown): void {
  if (stopping) return
  console.error(`img42: ${error instanceof Error ? error.message : error}`)
  stop(1)
}

function readArguments(args: readonly string[]): { once: boolean; emulateAws: boolean } {
  const unknown = args.filter((arg) => arg !== '--once' && arg !== '--emulate-aws')
  if (unknown.length > 0) {
    refuse(`unknown argument ${unknown.join(' ')}. There are --once and --emulate-aws.`)
  }
  return { once: args.includes('--once'), emulateAws: args.includes('--emulate-aws') }
}

function readEnvironment(emulateAws: boolean): Config {
  const clash = ['DATABASE_URL', 'QUEUE_URL', 'S3_BUCKET', 'AWS_ENDPOINT_URL'].filter(
    (name) => process.env[name],
  )
  if (emulateAws && clash.length > 0) {
    refuse(`--emulate-aws brings a database, a queue and a store of its own: unset ${clash.join(', ')}.`)
  }
  try {
    const config = readConfig(
      { ...process.env, DATABASE_URL: process.env.DATABASE_URL || 'postgres://embedded' },
      8080,
    )
    // Before a database is started for an API that will not.
    authMode(config)
    return config
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    console.error(`img42: ${error.message}`)
    return process.exit(1)
  }
}

function refuse(sentence: string): never {
  console.error(`img42: ${sentence}`)
  process.exit(2)
}

function say(line: string): void {
  console.log(line)
}

/** What the story still sees while everything is being stopped is no news. */
function sayWhileUp(line: string): void {
  if (!stopping) say(line)
}

function note(sentence: string): void {
  say(styleText('dim', `  ${sentence}`))
}

function shown(folder: string): string {
  const relative = path.relative(process.cwd(), folder)
  return relative.startsWith('..') ? folder : relative || '.'
}
