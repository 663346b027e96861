import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, open, readdir, readlink, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DependencyError } from '../../core/errors.ts'
import type { ObjectStore } from '../../core/ports/object-store.ts'
import { openFileStore } from './file-store.ts'
import { writeBody } from './write-body.ts'

const LONG = AbortSignal.timeout(60_000)

/** What every store of the port does is in test/conformance; here is what only files have to show. */
describe('the object store in files', () => {
  let parent: string
  let folder: string
  let store: ObjectStore
  beforeEach(async () => {
    parent = await mkdtemp(path.join(tmpdir(), 'img42-test-'))
    folder = path.join(parent, 'objects')
    store = await openFileStore(folder)
  })
  afterEach(() => rm(parent, { recursive: true, force: true }))

  const put = (key: string, body: AsyncIterable<Uint8Array> | Uint8Array = Buffer.from(key), signal = LONG) =>
    store.put({ key, body, contentType: 'image/png' }, signal)

  it.each([
    '../outside',
    'a/../../../outside',
    '/outside',
    'a//b',
    './a',
    'a/.',
    'a/..',
    '..',
    '',
    'a/',
    'a\\..\\b',
    'C:outside',
    'a\u0000b',
  ])('refuses the key %j in every call, and touches nothing', async (key) => {
    await expect(put(key)).rejects.toThrow(RangeError)
    await expect(store.get(key, {}, LONG)).rejects.toThrow(RangeError)
    await expect(store.delete([key], LONG)).rejects.toThrow(RangeError)
    expect(await readdir(parent)).toEqual(['objects'])
    expect((await readdir(folder, { recursive: true })).toSorted()).toEqual(['incoming', 'stored'])
  })

  it('takes names that only look like ways out', async () => {
    for (const key of ['..a/b..', 'a...b', '...', 'outputs/img_1/thumbnail@sharp-0.35.5_vips-8.18.7']) {
      await put(key)
      expect(await store.get(key, {}, LONG)).not.toBeNull()
    }
  })

  it('shows nothing of an object before it is whole, and leaves no file when it fails', async () => {
    const half = Promise.withResolvers<void>()
    const fail = Promise.withResolvers<never>()
    async function* body() {
      yield Buffer.alloc(100_000)
      yield Buffer.alloc(100_000)
      half.resolve()
      yield await fail.promise
    }
    const failed = expect(put('a/b', body())).rejects.toThrow('no')
    await half.promise
    expect(await store.list({ prefix: '' }, LONG)).toEqual([])
    expect(await store.get('a/b', {}, LONG)).toBeNull()
    fail.reject(new Error('no'))
    await failed
    expect((await readdir(folder, { recursive: true })).toSorted()).toEqual(['incoming', 'stored'])
  })

  it('keeps no folder that its last object left', async () => {
    await put('outputs/img_1/thumbnail')
    await put('outputs/img_2/thumbnail')
    await store.delete(['outputs/img_1/thumbnail'], LONG)
    expect(await readdir(path.join(folder, 'stored/outputs'))).toEqual(['img_2'])
    await store.delete(['outputs/img_2/thumbnail'], LONG)
    expect(await readdir(path.join(folder, 'stored'))).toEqual([])
  })

  it('removes what crashed puts left when it is opened an hour later, and no put of another process', async () => {
    const incoming = path.join(folder, 'incoming')
    const anHourAgo = new Date(Date.now() - 3_700_000)
    await writeFile(path.join(incoming, 'dead'), 'x')
    await utimes(path.join(incoming, 'dead'), anHourAgo, anHourAgo)
    await writeFile(path.join(incoming, 'alive'), 'x')
    await openFileStore(folder)
    expect(await readdir(incoming)).toEqual(['alive'])
  })

  it('keeps what was stored when its process is killed, and nothing of what was not', async () => {
    const child = fork(path.join(import.meta.dirname, 'put-and-hang.fixture.ts'), [folder])
    const [stored] = (await once(child, 'message')) as [string]
    child.kill('SIGKILL')
    await once(child, 'exit')
    const reopened = await openFileStore(folder)
    expect((await reopened.list({ prefix: '' }, LONG)).map(({ key }) => key)).toEqual([stored])
    const object = await reopened.get(stored, {}, LONG)
    expect(Buffer.concat(await object!.body.toArray()).equals(Buffer.alloc(1_000_000, 'x'))).toBe(true)
  })

  it('calls it the store’s failure when the system refuses to write', async () => {
    await rm(path.join(folder, 'incoming'), { recursive: true })
    const failure = await put('a').catch((error) => error)
    expect(failure).toBeInstanceOf(DependencyError)
    expect(failure).toMatchObject({ dependency: 'object_store', message: expect.stringContaining('ENOENT') })
  })

  it.skipIf(process.platform !== 'linux')('calls a full disk the store’s failure', async () => {
    // /dev/full answers every write with ENOSPC.
    const file = await open('/dev/full', 'w')
    const object = { key: 'a', body: Buffer.alloc(10), contentType: 'image/png' }
    const failure = await writeBody(file, object, LONG).catch((error) => error)
    await file.close()
    expect(failure).toBeInstanceOf(DependencyError)
    expect(failure.message).toContain('ENOSPC')
  })

  it('calls it the store’s failure when its folder cannot be made', async () => {
    await writeFile(path.join(parent, 'file'), 'x')
    await expect(openFileStore(path.join(parent, 'file', 'objects'))).rejects.toThrow(DependencyError)
  })

  it('keeps no file open, whatever became of a body', async () => {
    await put('a', Buffer.alloc(1_000_000))
    const read = (await store.get('a', {}, LONG))!
    await read.body.toArray()
    const left = (await store.get('a', {}, LONG))!
    left.body.destroy()
    const abort = new AbortController()
    const aborted = (await store.get('a', {}, abort.signal))!
    const ended = once(aborted.body, 'error')
    abort.abort(new Error('enough'))
    await ended
    await expect(store.get('a', { range: { first: 1_000_000, last: 1_000_001 } }, LONG)).rejects.toThrow()
    await expect.poll(() => openFilesBelow(folder)).toEqual([])
  })
})

/** The files that this process has open below the folder, as far as the system tells. */
async function openFilesBelow(folder: string): Promise<string[]> {
  if (process.platform !== 'linux') return []
  const links = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''))
  return (await Promise.all(links)).filter((file) => file.startsWith(folder))
}
