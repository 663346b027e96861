import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'

export interface ChaosOptions {
  /** Which faults, in which order. */
  seed: number
  /** For how long faults go on, at least. */
  seconds: number
  /** Faults go on until so many processes, and so many Postgres, were killed. */
  processKills: number
  postgresKills: number
  /** Between the beginnings of two faults, on average. */
  gapMs: number
  /** How long the backlog may take to drain. A job whose message was lost again and again is published at growing intervals. */
  drainMs: number
}

export const USAGE = `usage: test/chaos/main.ts [--smoke | --seconds N | --long] [--seed N]
  --smoke      20 seconds of faults: well below a minute in all
  --seconds N  N seconds of faults (default 180)
  --long       until 300 processes and 20 times Postgres were killed
  --seed N     the same faults in the same order; printed by each run`

/** @throws with a sentence when the arguments are none of {@link USAGE} */
export function readOptions(args: string[]): ChaosOptions {
  const { values } = parseArgs({
    args,
    options: {
      smoke: { type: 'boolean' },
      long: { type: 'boolean' },
      seconds: { type: 'string' },
      seed: { type: 'string' },
    },
  })
  const seed = values.seed === undefined ? randomInt(1_000_000) : wholeNumber('--seed', values.seed)
  if (values.smoke) {
    return { seed, seconds: 20, processKills: 3, postgresKills: 1, gapMs: 1_000, drainMs: 120_000 }
  }
  if (values.long) {
    return { seed, seconds: 300, processKills: 300, postgresKills: 20, gapMs: 500, drainMs: 900_000 }
  }
  const seconds = wholeNumber('--seconds', values.seconds ?? '180')
  return { seed, seconds, processKills: 0, postgresKills: 0, gapMs: 1_000, drainMs: 600_000 }
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`${name} has to be a whole number, not "${text}"`)
  return Number(text)
}
