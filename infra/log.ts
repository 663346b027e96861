import { type Logger, type LoggerOptions, pino } from 'pino'
import { createLogOutput, type LogOutput } from './log-output.ts'
import { readable } from './readable-log.ts'
import { activeTraceId } from './tracing/spans.ts'

/** What the protocol's code logs with. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>

/**
 * One JSON line an event on stdout; on a terminal, a line to be read. Errors are logged with message, class and stack,
 * never with what hangs on them: the SDK's errors carry whole requests, and with them signed headers.
 */
export function createLog(app: string, level: string): { log: Logger; output: LogOutput } {
  const options: LoggerOptions = {
    base: { app },
    level,
    // Of whatever the line is about, where that is traced.
    mixin: () => ({ trace_id: activeTraceId() }),
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: {
      err: (error: unknown) =>
        error instanceof Error
          ? { type: error.name, message: error.message, stack: error.stack, cause: causeOf(error) }
          : { message: String(error) },
    },
  }
  const output = createLogOutput(process.stdout)
  const write = process.stdout.isTTY ? (line: string) => output.write(readable(line)) : output.write
  return { log: pino(options, { write }), output }
}

function causeOf(error: Error): string | undefined {
  return error.cause instanceof Error ? `${error.cause.name}: ${error.cause.message}` : undefined
}
