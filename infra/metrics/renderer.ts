import { Gauge, type Registry } from 'prom-client'
import { countFrom0, eachOf } from './registry.ts'

/** A rendering process that ended, as far as it is told of here. */
export interface RendererEnd {
  /** Why it was killed; null when nobody here killed it. */
  killedFor: string | null
  wasReady: boolean
  outOfMemory: boolean
}

/** @returns counts the end of a rendering process */
export function countRendererEnds(registry: Registry): (end: RendererEnd) => void {
  const ends = countFrom0(
    ...([registry, 'img42_renderer_ends_total', 'Rendering processes that ended'] as const),
    ['cause'],
    eachOf('cause', ['memory', 'abandoned', 'nonsense', 'worn', 'closed', 'crashed', 'did_not_start']),
  )
  return ({ killedFor, wasReady, outOfMemory }) => {
    if (outOfMemory) ends.inc({ cause: 'memory' })
    else ends.inc({ cause: killedFor ?? (wasReady ? 'crashed' : 'did_not_start') })
  }
}

/** Tells of the rendering processes that are there now. */
export function observeRenderer(
  registry: Registry,
  renderer: { readonly processes: number; residentBytes(): Promise<number> },
): void {
  new Gauge({
    ...{ name: 'img42_renderer_processes', help: 'Rendering processes alive', registers: [registry] },
    collect() {
      this.set(renderer.processes)
    },
  })
  new Gauge({
    ...{ name: 'img42_renderer_resident_bytes', help: 'Memory of all of them', registers: [registry] },
    async collect() {
      this.set(await renderer.residentBytes())
    },
  })
}
