import { parentPort } from 'node:worker_threads'
import { TASKS, type TaskName } from './tasks.ts'

// One thread of `in-parallel.ts`: does one task after the other.
parentPort!.on('message', async ({ name, order }: { name: TaskName; order: never }) => {
  parentPort!.postMessage(await TASKS[name](order))
})
