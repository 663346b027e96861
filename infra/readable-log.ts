import { styleText } from 'node:util'

const COLOURS = {
  trace: 'dim',
  debug: 'dim',
  info: 'green',
  warn: 'yellow',
  error: 'red',
  fatal: 'red',
} as const

/** A line of the log as a person reads it: time, level, app, what happened, and the rest as `name=value`. */
export function readable(line: string): string {
  const { time, level, app, msg, err, ...fields } = JSON.parse(line) as Record<string, unknown>
  const { message, stack } = (err ?? {}) as { message?: string; stack?: string }
  const values = Object.entries(fields).map(
    ([name, value]) => `${styleText('dim', `${name}=`)}${shown(value)}`,
  )
  const head = [
    styleText('dim', String(time).slice(11, 23)),
    styleText(COLOURS[level as keyof typeof COLOURS] ?? 'dim', String(level).padEnd(5)),
    styleText('dim', String(app ?? '').padEnd(10)),
    msg,
    ...values,
  ].join(' ')
  const told = stack ?? message
  return told ? `${head}\n${told.replaceAll(/^/gm, '    ')}\n` : `${head}\n`
}

function shown(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value)
}
