import { Gauge, type Registry } from 'prom-client'
import type { EntryOutcome, Queue } from '../../core/ports/queue.ts'
import { countFrom0, eachOf } from './registry.ts'

/** A worker's queue, whose answers tell of messages that came again and of receipt handles that were too old. */
export function observeDeliveries(registry: Registry, queue: Queue): Queue {
  const received = countFrom0(
    ...([registry, 'img42_messages_received_total', 'Messages received'] as const),
    ['repeated'],
    eachOf('repeated', ['false', 'true']),
  )
  const stale = countFrom0(
    ...([registry, 'img42_stale_handles_total', 'Calls refused for a receipt handle'] as const),
    ['call'],
    eachOf('call', ['delete', 'change_visibility']),
  )
  const judged = (call: string, outcomes: EntryOutcome[]) => {
    stale.inc({ call }, outcomes.filter(({ ok }) => !ok).length)
    return outcomes
  }
  return {
    ...queue,
    async receive(options, signal) {
      const messages = await queue.receive(options, signal)
      for (const { receiveCount } of messages) received.inc({ repeated: String(receiveCount > 1) })
      return messages
    },
    delete: async (handles, signal) => judged('delete', await queue.delete(handles, signal)),
    changeVisibility: async (changes, signal) =>
      judged('change_visibility', await queue.changeVisibility(changes, signal)),
  }
}

/** How much of a worker is in use. */
export function observeSlots(registry: Registry, concurrency: number, busy: () => number): void {
  new Gauge({
    ...{ name: 'img42_worker_slots', help: 'Deliveries in hand, and room for more', registers: [registry] },
    labelNames: ['state'] as const,
    collect() {
      this.set({ state: 'busy' }, busy())
      this.set({ state: 'free' }, concurrency - busy())
    },
  })
}
