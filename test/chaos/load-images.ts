import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type TestImageName, testImage } from '../images.ts'
import type { CheckedImage } from './checker/ledger.ts'

/** Small ones: the load is to fill the protocol, not the cores. Two of them end as failures, and are to end as those. */
const NAMES: TestImageName[] = [
  'jpeg-orientation-6',
  'png-one-pixel',
  'png-alpha',
  'gif-animated',
  'webp-lossy',
  'jpeg-truncated',
  'png-data-damaged',
]

/** Writes the images of the load to `folder` and says how the job of each has to end. */
export async function writeLoadImages(folder: string): Promise<CheckedImage[]> {
  mkdirSync(folder, { recursive: true })
  return Promise.all(
    NAMES.map(async (name) => {
      const { bytes, contentType, expect: expected } = await testImage(name)
      if (expected.outcome === 'refused') throw new Error(`${name} would be refused`)
      writeFileSync(path.join(folder, name), bytes)
      return {
        file: name,
        contentType,
        sha256: createHash('sha256').update(bytes).digest('hex'),
        ends:
          expected.outcome === 'thumbnail'
            ? { status: 'SUCCEEDED', codes: [] }
            : { status: 'FAILED', codes: expected.codes },
      }
    }),
  )
}
