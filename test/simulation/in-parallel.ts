import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { TaskAnswer, TaskName, TaskOrder } from './tasks.ts'

/**
 * Does the tasks on as many threads as there are cores. A task's outcome does not depend on the thread, because a
 * simulation depends on nothing but its scenario.
 *
 * @returns the answers, in the order of `orders`
 */
export async function inParallel<Name extends TaskName>(
  name: Name,
  orders: readonly TaskOrder<Name>[],
): Promise<TaskAnswer<Name>[]> {
  const answers: TaskAnswer<Name>[] = []
  let next = 0
  const threads = Math.min(availableParallelism(), orders.length)
  await Promise.all(
    Array.from({ length: threads }, async () => {
      const thread = new Worker(new URL('./task-thread.ts', import.meta.url), {
        // Nearly everything is garbage within a simulated second: with more room it is collected less often.
        resourceLimits: { maxYoungGenerationSizeMb: 128 },
      })
      try {
        while (next < orders.length) {
          const at = next++
          thread.postMessage({ name, order: orders[at] })
          // Rejects with the error that ended the thread, if one did.
          answers[at] = (await once(thread, 'message'))[0]
        }
      } finally {
        await thread.terminate()
      }
    }),
  )
  return answers
}
