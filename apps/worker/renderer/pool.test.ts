import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import sharp from 'sharp'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { DependencyError, PermanentError, WorkError } from '../../../core/errors.ts'
import { DEFAULT_LIMITS, type Limits } from '../../../core/limits.ts'
import { testImage } from '../../../test/images.ts'
import { DEFAULT_PLAN } from '../../../test/job-result.ts'
import { openRenderer, type ProcessRenderer, type RendererOptions } from './pool.ts'
import { render as renderHere } from './render.ts'
import type { ProcessEnd } from './render-process.ts'
import { assertArenas, WANTED_ARENAS } from './sandbox/arenas.ts'
import type { Launch } from './sandbox/launch.ts'
import { eventually } from './testing/eventually.ts'
import { heavyTiff } from './testing/heavy-tiff.ts'
import { environmentOf, HAS_PROC, isComputing, isGone, renderProcessesOf } from './testing/processes.ts'
import { PIECE_BYTES, sourceOf } from './testing/source.ts'

/** What is started in place of a rendering process, while it is set. */
const standIn = vi.hoisted(() => ({ launch: null as Launch | null }))
vi.mock('./sandbox/launch.ts', async (original) => {
  const actual = await original<typeof import('./sandbox/launch.ts')>()
  return {
    ...actual,
    launchOf: (...args: Parameters<typeof actual.launchOf>) => standIn.launch ?? actual.launchOf(...args),
  }
})

const NEVER = new AbortController().signal
/** Room for what decodes for minutes. */
const WIDE: Limits = { ...DEFAULT_LIMITS, maxPixels: 1e12 }

/** One process, shared by the tests: each leaves it, or the one that replaced it, idle. */
let shared: ProcessRenderer
let renderer: ProcessRenderer
const ends: ProcessEnd[] = []
let jpeg: Buffer
let heavy: Buffer

const open = (options: Partial<RendererOptions> = {}) =>
  openRenderer({ concurrency: 1, limits: WIDE, onProcessEnd: (end) => ends.push(end), ...options })

beforeAll(async () => {
  jpeg = (await testImage('jpeg-orientation-1')).bytes
  heavy = heavyTiff()
  // Not to be found in any rendering process.
  process.env.AWS_SECRET_ACCESS_KEY = 'secret'
  shared = await open()
})
afterAll(() => shared.close())

beforeEach(() => {
  renderer = shared
  ends.length = 0
})
afterEach(async () => {
  if (renderer !== shared) await renderer.close()
})

const render = (bytes: Buffer, signal = NEVER) => renderer.render(sourceOf(bytes), DEFAULT_PLAN, signal)
const works = async () => expect((await render(jpeg)).outputs).toHaveLength(1)

describe('the renderer', () => {
  it('gives the outputs with name, type, size and bytes', async () => {
    const { outputs, warnings } = await render(jpeg)
    expect(outputs).toMatchObject([{ name: 'thumbnail', contentType: 'image/jpeg', width: 320, height: 213 }])
    expect(Buffer.from(outputs[0]!.body.subarray(0, 3)).toString('hex')).toBe('ffd8ff')
    expect(warnings).toEqual([])
  })

  it('knows its engine before the first job, in letters that an object key may have', async () => {
    expect(renderer.engine).toMatch(/^sharp-[\d.]+_vips-[\d.]+_[\w.-]+$/)
  })

  it('gives the same bytes in every process', async () => {
    renderer = await open({ concurrency: 2 })
    for (const name of ['jpeg-orientation-6', 'png-alpha', 'avif-plain', 'jpeg-cmyk'] as const) {
      const { bytes } = await testImage(name)
      const here = await renderHere(bytes, DEFAULT_LIMITS, DEFAULT_PLAN)
      const [one, other] = await Promise.all([render(bytes), render(bytes)])
      for (const { outputs } of [one, other]) {
        expect(Buffer.compare(outputs[0]!.body, here.outputs[0]!.body)).toBe(0)
      }
    }
  })

  it('refuses an image that is at fault, and goes on with the same process', async () => {
    const failure = render((await testImage('jpeg-truncated')).bytes)
    await expect(failure).rejects.toThrow(PermanentError)
    await expect(failure).rejects.toMatchObject({
      code: 'truncated',
      message: expect.stringContaining('JPEG'),
    })
    await works()
    expect(ends).toEqual([])
  })

  it('holds the images to its limits', async () => {
    renderer = await open({ limits: { ...DEFAULT_LIMITS, maxPixels: 480 * 320 - 1 } })
    await expect(render(jpeg)).rejects.toMatchObject({ code: 'too_many_pixels' })
  })

  it('rejects as soon as the job is aborted, with the signal’s reason, and does the next one', async () => {
    const reason = new Error('the attempt took too long')
    const abort = new AbortController()
    const source = sourceOf(heavy)
    const job = renderer.render(source, DEFAULT_PLAN, abort.signal)
    await eventually(() => source.released).toBe(true)
    abort.abort(reason)
    await expect(job).rejects.toBe(reason)
    await works()
    expect(ends).toMatchObject([{ killedFor: 'abandoned', signal: 'SIGKILL' }])
  })

  it('lets the source go that an aborted job was reading', async () => {
    const abort = new AbortController()
    const more = Promise.withResolvers<void>()
    const source = sourceOf(jpeg, () => more.promise)
    const job = renderer.render(source, DEFAULT_PLAN, abort.signal)
    await eventually(() => source.taken).toBe(Math.ceil(jpeg.length / PIECE_BYTES))
    abort.abort(new Error('enough'))
    await expect(job).rejects.toThrow('enough')
    more.resolve()
    await eventually(() => source.released).toBe(true)
    await works()
  })

  it('takes nothing of a source whose job was aborted before', async () => {
    const source = sourceOf(jpeg)
    await expect(
      renderer.render(source, DEFAULT_PLAN, AbortSignal.abort(new Error('enough'))),
    ).rejects.toThrow('enough')
    expect(source.taken).toBe(0)
  })

  it('makes a job wait for a free process, for as long as its signal allows', async () => {
    const [first, second] = [new AbortController(), new AbortController()]
    const running = render(heavy, first.signal)
    const givesUp = render(jpeg, second.signal)
    const waits = render(jpeg)
    second.abort(new Error('waited long enough'))
    await expect(givesUp).rejects.toThrow('waited long enough')
    first.abort(new Error('enough'))
    await expect(running).rejects.toThrow('enough')
    expect((await waits).outputs).toHaveLength(1)
  })

  it('passes an error of the source on unchanged, without the loss of a process where nothing was sent', async () => {
    const failure = new DependencyError('object_store', 'the store is down')
    const source = sourceOf(Buffer.alloc(0), () => Promise.reject(failure))
    await expect(renderer.render({ ...source, bytes: 9 }, DEFAULT_PLAN, NEVER)).rejects.toBe(failure)
    await works()
    expect(ends).toEqual([])
  })

  it('keeps the process of a job that is aborted before anything was sent', async () => {
    const abort = new AbortController()
    const silent = sourceOf(Buffer.alloc(0), () => new Promise(() => {}))
    const job = renderer.render({ ...silent, bytes: 9 }, DEFAULT_PLAN, abort.signal)
    abort.abort(new Error('enough'))
    await expect(job).rejects.toThrow('enough')
    await works()
    expect(ends).toEqual([])
  })

  it('passes an error from the midst of the source on unchanged, and does the next job', async () => {
    const failure = new DependencyError('object_store', 'the connection broke')
    const { body } = sourceOf(jpeg, () => Promise.reject(failure))
    await expect(renderer.render({ body, bytes: jpeg.length + 1 }, DEFAULT_PLAN, NEVER)).rejects.toBe(failure)
    await works()
    expect(ends).toMatchObject([{ killedFor: 'abandoned' }])
  })

  it('gives no outputs of an original that its source takes back at the end', async () => {
    const failure = new DependencyError('object_store', 'other bytes than were accepted')
    const source = sourceOf(jpeg, () => Promise.reject(failure))
    await expect(renderer.render(source, DEFAULT_PLAN, NEVER)).rejects.toBe(failure)
    await works()
  })

  it('rejects the jobs that run or wait when it is closed', async () => {
    renderer = await open()
    const jobs = [render(heavy), render(jpeg)]
    const outcomes = Promise.allSettled(jobs)
    await renderer.close()
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await expect(render(jpeg)).rejects.toThrow('the renderer is closed')
  })
})

describe.skipIf(!HAS_PROC)('a rendering process', () => {
  it('is in the sandbox, and says so', async () => {
    const confined = {
      user: process.getuid!() || 65_534,
      network: true,
      processes: true,
      noNewPrivileges: true,
    }
    expect(shared.confinement).toMatchObject(confined)
    expect(shared.confinement.dataLimitBytes).toBeGreaterThan(1_500_000_000)
  })

  it('has as few malloc arenas as it was asked to, which the worker asserts when it starts', () => {
    const { mallocArenas } = shared.confinement
    expect(mallocArenas).toBeGreaterThanOrEqual(1)
    expect(mallocArenas).toBeLessThanOrEqual(WANTED_ARENAS)
    expect(() => assertArenas(mallocArenas)).not.toThrow()
    expect(() => assertArenas(WANTED_ARENAS + 1)).toThrow('MALLOC_ARENA_MAX')
  })

  /** The shared renderer's one. */
  const theOne = async () => {
    await works()
    const [pid, ...others] = renderProcessesOf()
    expect(others).toEqual([])
    return pid!
  }

  it.each(['SIGSEGV', 'SIGKILL', 'SIGABRT'] as const)(
    'that is ended by %s in the midst of a job fails that job alone',
    async (signal) => {
      const crashed = await theOne()
      const job = render(heavy)
      const outcome = expect(job).rejects.toMatchObject({ name: 'WorkError', code: 'renderer_crashed' })
      await isComputing(crashed)
      process.kill(crashed, signal)
      await outcome
      await expect(job).rejects.toThrow(WorkError)
      await works()
      expect(await theOne()).not.toBe(crashed)
      expect(ends).toMatchObject([{ killedFor: null, pid: crashed, signal }])
    },
  )

  it('that ends while it has nothing to do is replaced', async () => {
    const first = await theOne()
    process.kill(first, 'SIGKILL')
    await eventually(() => isGone(first)).toBe(true)
    await eventually(() => ends).toMatchObject([{ killedFor: null, pid: first }])
    await works()
  })

  it('that takes more memory than it may is killed, and its job told so', async () => {
    renderer = await open({ memoryBytes: 200_000_000 })
    await expect(render(heavy)).rejects.toMatchObject({
      name: 'WorkError',
      code: 'renderer_out_of_memory',
      message: expect.stringContaining('200000000 bytes'),
    })
    await works()
    expect(ends).toMatchObject([{ outOfMemory: true, wasReady: true }])
  })

  it('that has no room for the original is told from one that crashed', async () => {
    renderer = await open({ memoryBytes: 200_000_000 })
    const huge = { ...sourceOf(jpeg, () => new Promise(() => {})), bytes: 900_000_000 }
    await expect(renderer.render(huge, DEFAULT_PLAN, NEVER)).rejects.toMatchObject({
      code: 'renderer_out_of_memory',
    })
    expect(ends).toMatchObject([{ outOfMemory: true, killedFor: null }])
  })

  it('that came near its limit is replaced before the next job, of which it might say what is not so', async () => {
    const pixels = { width: 6_000, height: 6_000, channels: 3 as const, background: '#888' }
    const large = await sharp({ create: pixels })
      .jpeg({ progressive: true, chromaSubsampling: '4:4:4' })
      .toBuffer()
    renderer = await open({ memoryBytes: 400_000_000 })
    expect((await render(large)).outputs).toHaveLength(1)
    await eventually(() => ends).toMatchObject([{ killedFor: 'worn' }])
    await works()
  })

  it('says of no image that it is damaged because memory was short', async () => {
    const noise = { type: 'gaussian' as const, mean: 128, sigma: 30 }
    const pixels = { width: 3_000, height: 3_000, channels: 3 as const }
    // Made once: it takes longer than all the rest.
    const raw = await sharp({ create: { ...pixels, background: '#888', noise } })
      .raw()
      .toBuffer()
    const large = sharp(raw, { raw: pixels })
    renderer = await open({ memoryBytes: 20_000_000 })
    for (const encoded of [
      large.clone().jpeg({ progressive: true }),
      large.clone().png({ compressionLevel: 1 }),
      large.clone().webp({ effort: 0 }),
      large.clone().tiff({ compression: 'lzw', tile: true, tileWidth: 1_504, tileHeight: 1_504 }),
    ]) {
      await expect(render(await encoded.toBuffer())).rejects.toMatchObject({ code: 'renderer_out_of_memory' })
    }
  })

  it('tells how long it took to end and to be replaced', async () => {
    const replaced: [ProcessEnd, number][] = []
    renderer = await open({ onReplaced: (...told) => replaced.push(told) })
    const abort = new AbortController()
    const source = sourceOf(heavy)
    const job = renderer.render(source, DEFAULT_PLAN, abort.signal)
    await eventually(() => source.released).toBe(true)
    abort.abort(new Error('enough'))
    await expect(job).rejects.toThrow('enough')
    await eventually(() => replaced.length).toBe(1)
    expect(replaced).toEqual([[{ ...ends[0], goneAfterMs: expect.any(Number) }, expect.any(Number)]])
    expect(ends[0]).toMatchObject({ killedFor: 'abandoned', outOfMemory: false })
  })

  it('is replaced after 500 jobs', async () => {
    const others = renderProcessesOf()
    renderer = await open()
    const pids = () => renderProcessesOf().filter((pid) => !others.includes(pid))
    const first = pids()
    const html = Buffer.from('<html>')
    for (let job = 1; job < 500; job++) await render(html).catch(() => {})
    expect(pids()).toEqual(first)
    await works()
    await eventually(() => ends).toMatchObject([{ killedFor: 'worn', pid: first[0] }])
    await works()
    expect(pids()).not.toEqual(first)
  })

  it('has nothing of the environment but two settings of its own', async () => {
    process.env.AWS_SECRET_ACCESS_KEY = 'secret'
    process.env.DATABASE_URL = 'postgres://user:secret@db/img42'
    expect(environmentOf(await theOne())).toEqual(['MALLOC_ARENA_MAX=2', 'UV_THREADPOOL_SIZE=1'])
  })

  it('hears no signal that a terminal sends to all: the worker is to drain', async () => {
    const pid = await theOne()
    const job = render(jpeg)
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(pid, signal)
    await job
    await works()
    expect(await theOne()).toBe(pid)
  })

  it('is gone when the renderer is closed', async () => {
    const others = renderProcessesOf()
    renderer = await open({ concurrency: 2 })
    const pids = renderProcessesOf().filter((pid) => !others.includes(pid))
    expect(pids).toHaveLength(2)
    await renderer.close()
    expect(pids.map(isGone)).toEqual([true, true])
  })

  it.each(['idle', 'decoding'])('that is %s ends when its parent is killed', async (state) => {
    const parent = spawnParent()
    try {
      await parent.ready
      const [pid] = renderProcessesOf(parent.pid)
      if (state === 'decoding') {
        parent.render(heavy)
        await isComputing(pid!)
      }
      process.kill(parent.pid, 'SIGKILL')
      await eventually(() => isGone(pid!)).toBe(true)
    } finally {
      parent.kill()
    }
  })
})

describe.skipIf(!HAS_PROC)('a rendering process that does not start', () => {
  afterEach(() => {
    standIn.launch = null
  })

  function startInstead(script: string): void {
    standIn.launch = { command: '/bin/sh', args: ['-c', script] }
  }

  it('is an error of the one who opens the renderer, with its last words', async () => {
    startInstead('echo no such module >&2; exit 3')
    await expect(open()).rejects.toThrow('a rendering process could not be started: no such module')
    expect(ends).toMatchObject([{ wasReady: false, exitCode: 3, stderr: 'no such module\n' }])
  })

  it('for want of a program is an error too', async () => {
    standIn.launch = { command: '/nowhere/node', args: [] }
    await expect(open()).rejects.toThrow('a rendering process could not be started')
  })

  it('is killed when it talks nonsense', async () => {
    startInstead('printf "GET / HTTP/1.1" >&3; exec sleep 600')
    await expect(open()).rejects.toThrow('a rendering process could not be started')
    expect(ends).toMatchObject([{ wasReady: false, killedFor: 'nonsense' }])
  })

  it('in place of one that crashed is tried again, while jobs wait', async () => {
    const others = renderProcessesOf()
    renderer = await open()
    const [pid] = renderProcessesOf().filter((one) => !others.includes(one))
    startInstead('exit 3')
    process.kill(pid!, 'SIGKILL')
    await eventually(() => ends.length).toBeGreaterThan(0)
    const job = render(jpeg)
    await eventually(() => ends.some(({ wasReady }) => !wasReady)).toBe(true)
    standIn.launch = null
    expect((await job).outputs).toHaveLength(1)
  })
})

/** A process that opens a renderer and renders what comes on its stdin. */
function spawnParent() {
  const program = `
    import { openRenderer } from ${JSON.stringify(new URL('pool.ts', import.meta.url).href)}
    const renderer = await openRenderer({ concurrency: 1, limits: ${JSON.stringify(WIDE)} })
    const loaded = process.report.getReport().sharedObjects.filter((name) => name.includes('vips'))
    console.log(JSON.stringify(loaded))
    const pieces = []
    for await (const piece of process.stdin) pieces.push(piece)
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0)
    await renderer.render({ body: pieces, bytes }, ${JSON.stringify(DEFAULT_PLAN)}, new AbortController().signal)
  `
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.on('error', () => {})
  const ready = once(createInterface(child.stdout), 'line').then(([line]) => JSON.parse(line))
  return {
    pid: child.pid!,
    /** The shared libraries of libvips that it has loaded. */
    ready: ready as Promise<string[]>,
    render: (bytes: Buffer) => child.stdin.end(bytes),
    kill: () => child.kill('SIGKILL'),
  }
}

it('keeps the decoder out of the process that opens it', async () => {
  const parent = spawnParent()
  try {
    expect(await parent.ready).toEqual([])
  } finally {
    parent.kill()
  }
})
