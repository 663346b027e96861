import { type Logger, pino } from 'pino'

/** What the protocol's code logs with. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>

/**
 * One JSON line an event on stdout. Errors are logged with message, class and stack, never with what hangs on them:
 * the SDK's errors carry whole requests, and with them signed headers.
 */
export function createLog(app: string, level: string): Logger {
  return pino({
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
  })
}

function causeOf(error: Error): string | undefined {
  return error.cause instanceof Error ? `${error.cause.name}: ${error.cause.message}` : undefined
}
