import type { Clock } from './ports/clock.ts'

export interface Loop {
  /** What runs; returns true when there is more to do at once. */
  turn: () => Promise<boolean>
  /** The pause between two turns, in milliseconds. */
  everyMs: number
  /** Called with what a turn threw; the loop goes on after its pause. */
  onError: (error: unknown) => void
  /** Called when a turn ended, well or not: a loop that is not heard from is stuck. */
  onTurn: () => void
}

export interface RunningLoop {
  /** Starts the next turn now, or one more after the running one: what it was called for may have come too late for that. */
  wake(): void
  /** Settles when the loop has ended, its last turn included. */
  ended: Promise<void>
}

/** Runs turns one after the other, never two at once, until `stop` aborts; a turn that runs then is let to its end. */
export function startLoop(
  clock: Clock,
  stop: AbortSignal,
  { turn, everyMs, onError, onTurn }: Loop,
): RunningLoop {
  let pause = new AbortController()
  let woken = false

  async function run(): Promise<void> {
    while (!stop.aborted) {
      woken = false
      let more = false
      try {
        more = await turn()
      } catch (error) {
        onError(error)
      }
      onTurn()
      if (more || woken) continue
      pause = new AbortController()
      await clock.sleep(everyMs, AbortSignal.any([stop, pause.signal])).catch(() => {})
    }
  }

  return {
    wake() {
      woken = true
      pause.abort()
    },
    ended: run(),
  }
}
