import type { SeededRandom } from './seeded-random.ts'

/**
 * Virtual time. Everything that happens in a simulation is an event of this queue; nothing else decides an order.
 * Events run one at a time, by their time; those of the same millisecond in an order that the seed draws. Between two
 * events every promise that can settle has settled, so that a run is decided by its seed alone.
 */
export interface Scheduler {
  /** Milliseconds of virtual time. */
  now(): number
  /** Runs `event` in `ms` milliseconds. A promise that it returns is waited for before the next event. */
  schedule(ms: number, event: () => unknown): Scheduled
  /** Runs events until `done`, until the next one lies past `untilMs`, or until there is none. */
  run(untilMs: number, done: () => boolean): Promise<'done' | 'time' | 'idle'>
  /** How many events ran. */
  steps(): number
}

export interface Scheduled {
  cancel(): void
}

interface Entry {
  at: number
  tie: number
  event: (() => unknown) | null
}

/** @param startMs what the clock says at first */
export function createScheduler(random: SeededRandom, startMs: number): Scheduler {
  const heap: Entry[] = []
  let now = startMs
  let steps = 0
  return {
    now: () => now,
    steps: () => steps,
    schedule(ms, event) {
      const entry: Entry = { at: now + Math.max(0, Math.round(ms)), tie: random.uniform(), event }
      push(heap, entry)
      return {
        cancel: () => {
          entry.event = null
        },
      }
    },
    async run(untilMs, done) {
      await settle()
      while (!done()) {
        const first = heap[0]
        if (!first) return 'idle'
        if (first.event && first.at > untilMs) {
          now = Math.max(now, untilMs)
          return 'time'
        }
        pop(heap)
        if (!first.event) continue
        now = first.at
        steps++
        const outcome = first.event()
        if (outcome instanceof Promise) await outcome
        await settle()
      }
      return 'done'
    },
  }
}

/** An immediate comes after all microtasks and all of `process.nextTick`, those that they start included. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function before(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.tie < b.tie)
}

function push(heap: Entry[], entry: Entry): void {
  let at = heap.push(entry) - 1
  while (at > 0) {
    const parent = (at - 1) >> 1
    if (!before(entry, heap[parent]!)) break
    heap[at] = heap[parent]!
    at = parent
  }
  heap[at] = entry
}

function pop(heap: Entry[]): void {
  const last = heap.pop()!
  if (heap.length === 0) return
  let at = 0
  while (true) {
    let child = 2 * at + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++
    if (!before(heap[child]!, last)) break
    heap[at] = heap[child]!
    at = child
  }
  heap[at] = last
}
