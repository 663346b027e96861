import { openFileStore } from './file-store.ts'

/** Stores one object, then says so amid storing another, which never ends. To be killed. */
process.on('disconnect', () => process.exit(1))
const store = await openFileStore(process.argv[2]!)
const signal = AbortSignal.timeout(60_000)
const contentType = 'image/png'
await store.put({ key: 'originals/stored', body: Buffer.alloc(1_000_000, 'x'), contentType }, signal)

async function* body() {
  yield Buffer.alloc(100_000)
  yield Buffer.alloc(100_000)
  process.send?.('originals/stored')
  await new Promise(() => {})
}
await store.put({ key: 'originals/half', body: body(), contentType }, signal)
