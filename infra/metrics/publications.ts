import type { Registry } from 'prom-client'
import type { Queue } from '../../core/ports/queue.ts'
import { countFrom0, eachOf } from './registry.ts'

/** The relay's queue, whose answers tell what was published and what was not. */
export function observePublications(registry: Registry, queue: Queue): Queue {
  const published = countFrom0(
    registry,
    'img42_published_total',
    'Messages that the queue confirmed',
    [],
    [{}],
  )
  const failures = countFrom0(
    ...([registry, 'img42_publish_failures_total', 'Messages that the queue did not confirm'] as const),
    ['reason'],
    eachOf('reason', ['no_answer', 'refused', 'refused_for_good']),
  )
  return {
    ...queue,
    async send(messages, signal) {
      const outcomes = await queue.send(messages, signal).catch((error: unknown) => {
        failures.inc({ reason: 'no_answer' }, messages.length)
        throw error
      })
      for (const outcome of outcomes) {
        if (outcome.ok) published.inc()
        else failures.inc({ reason: outcome.permanent ? 'refused_for_good' : 'refused' })
      }
      return outcomes
    },
  }
}
