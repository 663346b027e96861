import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import packageJson from '../package.json' with { type: 'json' }
import { type Config, ConfigError, readConfig } from './config.ts'
import { createLog } from './log.ts'
import { countJobEnds } from './metrics/job-ends.ts'
import { createRegistry } from './metrics/registry.ts'
import { serveMetrics } from './metrics/server.ts'
import { startTracing } from './tracing/start.ts'

export interface App {
  name: string
  defaultPort: number
  /**
   * Starts everything and resolves once the app serves; `port` is where it answers. What it measures goes to the registry.
   */
  start(config: Config, log: Logger, registry: Registry): Promise<{ port: number; stop(): Promise<void> }>
}

/** How long the end of a process waits for who reads its log. */
const LAST_WORDS_MS = 1_000

/**
 * Runs an app as this process: reads the configuration, starts, tells a parent (`{ listening: port, metrics: port }`
 * over IPC), and stops in order on SIGTERM, SIGINT, or when the parent is gone. What cannot be started ends with one sentence and
 * exit code 1; what nobody caught is logged and ends the process, because its state is unknown from then on.
 */
export async function runApp({ name, defaultPort, start }: App): Promise<void> {
  let config: Config
  try {
    config = readConfig(process.env, defaultPort)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    console.error(`img42 ${name}: ${error.message}`)
    process.exit(1)
  }
  const { log, output } = createLog(name, config.logLevel)
  /** Not before its last words were read, as far as anybody reads them. */
  const exit = (code: number) => output.flush(LAST_WORDS_MS, () => process.exit(code))
  let dying = false
  const die = (error: unknown) => {
    if (dying) return
    dying = true
    log.fatal({ err: error }, 'unexpected error')
    exit(1)
  }
  process.on('uncaughtException', die)
  process.on('unhandledRejection', die)

  let orphaned = false
  process.on('disconnect', () => {
    orphaned = true
  })
  // Before anything is opened, so that nothing is missing from it.
  const stopTracing = config.tracing && (await startTracing(name, packageJson.version, config.tracing))
  const registry = createRegistry(name, config.timing)
  countJobEnds(registry)
  let running: Awaited<ReturnType<App['start']>>
  let metrics: Awaited<ReturnType<typeof serveMetrics>>
  try {
    // First, so that a port that is taken is said before anything was begun.
    metrics = await serveMetrics(config.host, config.metricsPort, registry)
    running = await start(config, log, registry)
  } catch (error) {
    log.fatal({ err: error }, 'could not start')
    console.error(`img42 ${name}: could not start: ${(error as Error).message}`)
    return exit(1)
  }
  log.info({ port: running.port, metrics_port: metrics.port }, 'started')
  if (process.connected) process.send?.({ listening: running.port, metrics: metrics.port })

  let stopping = false
  const stop = async (why: string) => {
    if (stopping) return
    stopping = true
    log.info({ why }, 'stopping')
    try {
      await running.stop()
      metrics.close()
      await stopTracing?.(LAST_WORDS_MS)
      log.info('stopped')
    } catch (error) {
      return die(error)
    }
    exit(0)
  }
  process.on('SIGTERM', () => stop('SIGTERM'))
  process.on('SIGINT', () => stop('SIGINT'))
  process.on('disconnect', () => stop('parent gone'))
  if (orphaned) await stop('parent gone')
}
