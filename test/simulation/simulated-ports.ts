import type { Jobs } from '../../core/ports/jobs.ts'
import type { Moderator } from '../../core/ports/moderator.ts'
import type { ObjectStore } from '../../core/ports/object-store.ts'
import type { EntryRefusal, Queue, Queues } from '../../core/ports/queue.ts'
import type { Renderer } from '../../core/ports/renderer.ts'
import type { Step } from './faults.ts'
import { collect } from './memory/memory-object-store.ts'
import type { Network, Outcome } from './network.ts'
import type { SimulatedProcess } from './simulated-process.ts'

/** What a process of the service is given: the real ports' shapes, all calls going through the network. */
export interface SimulatedPorts {
  jobs: Jobs
  queues: Queues
  objectStore: ObjectStore
  renderer: Renderer
  /** null: the service has none. */
  moderator: Moderator | null
}

/** Told of each call's effect on the world, the moment it happened. */
export type EffectListener = (
  process: SimulatedProcess,
  step: Step,
  args: readonly unknown[],
  outcome: Outcome<unknown>,
) => void

export function connect(
  network: Network,
  process: SimulatedProcess,
  world: SimulatedPorts,
  onEffect: EffectListener,
): SimulatedPorts {
  const happened = (step: Step, args: readonly unknown[]) => (outcome: Outcome<unknown>) =>
    onEffect(process, step, args, outcome)

  function jobsPort(): Jobs {
    const methods = Object.entries(world.jobs).map(([name, method]: [string, Method]) => {
      const step: Step = `jobs.${name}`
      const overNetwork: Method = (...args) =>
        network.call(process, {
          step,
          dependency: 'database',
          args,
          signal: null,
          instant: true,
          effect: () => method(...args),
          happened: happened(step, args),
        })
      return [name, overNetwork]
    })
    return Object.fromEntries(methods) as Jobs
  }

  function queuePort(port: 'queue' | 'deadLetters', queue: Queue): Queue {
    function call<T>(
      method: string,
      args: readonly unknown[],
      signal: AbortSignal,
      request: Request<T>,
    ): Promise<T> {
      const step: Step = `${port}.${method}`
      const { instant = true } = request
      return network.call(process, {
        ...request,
        ...{ step, dependency: 'queue', args, signal, instant },
        happened: happened(step, args),
      })
    }
    /** A batch call, whose last entry a fault may take out. */
    function batch<Entry, O>(
      method: string,
      entries: readonly Entry[],
      signal: AbortSignal,
      send: (entries: readonly Entry[], cut: AbortSignal) => Promise<O[]>,
    ): Promise<(O | EntryRefusal)[]> {
      return call<(O | EntryRefusal)[]>(method, [entries], signal, {
        effect: (cut) => send(entries, cut),
        withRefusedEntry: async (cut, forGood) => {
          const others = entries.slice(0, -1)
          return [...(others.length > 0 ? await send(others, cut) : []), forGood ? REFUSED_FOR_GOOD : REFUSED]
        },
      })
    }
    return {
      send: (messages, signal) => batch('send', messages, signal, (some, cut) => queue.send(some, cut)),
      receive: (options, signal) =>
        call('receive', [options], signal, { effect: (cut) => queue.receive(options, cut), instant: false }),
      changeVisibility: (changes, signal) =>
        batch('changeVisibility', changes, signal, (some, cut) => queue.changeVisibility(some, cut)),
      delete: (handles, signal) => batch('delete', handles, signal, (some, cut) => queue.delete(some, cut)),
      depth: (signal) => call('depth', [], signal, { effect: (cut) => queue.depth(cut) }),
    }
  }

  function storePort(): ObjectStore {
    const store = world.objectStore
    function call<T>(
      method: string,
      args: readonly unknown[],
      signal: AbortSignal,
      request: Request<T>,
    ): Promise<T> {
      const step: Step = `store.${method}`
      return network.call(process, {
        ...request,
        ...{ step, dependency: 'object_store', args, signal, instant: true },
        happened: happened(step, args),
      })
    }
    return {
      async put(object, signal) {
        // The body comes from the process, chunk by chunk, before the store has anything: half an object is none.
        const body = await collect(object.body)
        return call('put', [{ ...object, body }], signal, {
          effect: (cut) => store.put({ ...object, body }, cut),
        })
      },
      get: (key, options, signal) =>
        call('get', [key, options], signal, { effect: (cut) => store.get(key, options, cut) }),
      delete: (keys, signal) => call('delete', [keys], signal, { effect: (cut) => store.delete(keys, cut) }),
      list: (options, signal) =>
        call('list', [options], signal, { effect: (cut) => store.list(options, cut) }),
    }
  }

  function moderatorPort({ judge, ping }: Moderator): Moderator {
    const calling = { dependency: 'moderation', instant: true } as const
    return {
      judge: (picture, signal) =>
        network.call(process, {
          ...{ ...calling, step: 'moderator.judge', args: [picture.jobId], signal },
          effect: (cut) => judge(picture, cut),
        }),
      ping: (signal) =>
        network.call(process, {
          ...{ ...calling, step: 'moderator.ping', args: [], signal },
          effect: (cut) => ping(cut),
        }),
    }
  }

  const step: Step = 'renderer.render'
  return {
    jobs: jobsPort(),
    queues: {
      jobs: queuePort('queue', world.queues.jobs),
      deadLetters: queuePort('deadLetters', world.queues.deadLetters),
    },
    objectStore: storePort(),
    moderator: world.moderator && moderatorPort(world.moderator),
    renderer: {
      engine: world.renderer.engine,
      render: (source, plan, signal) =>
        network.call(process, {
          ...{ step, dependency: 'object_store', args: [], signal, instant: false },
          effect: (cut) => world.renderer.render(source, plan, AbortSignal.any([signal, cut])),
          happened: happened(step, []),
        }),
    },
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a method of any port
type Method = (...args: any[]) => Promise<any>

interface Request<T> {
  effect: (cut: AbortSignal) => Promise<T>
  withRefusedEntry?: (cut: AbortSignal, forGood: boolean) => Promise<T>
  instant?: boolean
}

const REFUSED: EntryRefusal = { ok: false, code: 'InternalError', permanent: false }
const REFUSED_FOR_GOOD: EntryRefusal = { ok: false, code: 'InvalidMessageContents', permanent: true }
