import { type Logger, type LoggerOptions, pino } from 'pino'

/** What the protocol's code logs with. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>

/**
 * One JSON line an event on stdout. Errors are logged with message, class and stack, never with what hangs on them:
 * the SDK's errors carry whole requests, and with them signed headers.
 */
export function createLog(app: string, level: string): Logger {
  const options: LoggerOptions = {
    base: { app },
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: {
      err: (error: unknown) =>
        error instanceof Error
          ? { type: error.name, message: error.message, stack: error.stack, cause: causeOf(error) }
          : { message: String(error) },
    },
  }
  // Written at once: the default writes behind, and at the exit of a process whose reader is gone it tries for ever.
  const stdout = pino.destination({ fd: 1, sync: true })
  // A full disk below the log costs lines, not the service.
  stdout.on('error', () => {})
  return pino(options, stdout)
}

function causeOf(error: Error): string | undefined {
  return error.cause instanceof Error ? `${error.cause.name}: ${error.cause.message}` : undefined
}
