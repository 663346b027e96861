import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_LIMITS } from '../../core/limits.ts'
import { type ApiUnderTest, jsonOf, startApi } from './testing/start-api.ts'

const FOLDER = process.env.IMG42_IMAGES ?? path.join(import.meta.dirname, '../../../shared/images')
const MANIFEST = path.join(FOLDER, 'manifest.tsv')

/** File and right outcome of each image of the collection; none where it is absent. */
const images = existsSync(MANIFEST)
  ? readFileSync(MANIFEST, 'utf8')
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.split('\t'))
      .map((columns) => ({ file: columns[0]!, outcome: columns[5]! }))
      .filter(({ file }) => existsSync(path.join(FOLDER, file)))
  : []

describe.skipIf(images.length === 0)(`of ${images.length} real images`, () => {
  let api: ApiUnderTest
  beforeAll(async () => {
    api = await startApi({ limits: DEFAULT_LIMITS })
  })
  afterAll(() => api.stop())

  const upload = async (file: string) => {
    const response = await api.post(readFileSync(path.join(FOLDER, file)), {
      'Content-Type': 'application/octet-stream',
    })
    return { status: response.status, answer: await jsonOf(response) }
  }

  it('each that is good is accepted, and none is answered with an error of ours', async () => {
    const wrong: string[] = []
    for (const { file, outcome } of images) {
      const { status, answer } = await upload(file)
      // SVG is off.
      const good = outcome.startsWith('accept') && !outcome.includes('(policy)') && !/\.svgz?$/.test(file)
      const right = status === 202 || (!good && [400, 415, 422].includes(status))
      if (!right) wrong.push(`${file}: ${outcome}: ${status} ${answer.code} ${answer.detail}`)
    }
    expect(wrong).toEqual([])
  })
})

if (images.length === 0) it.skip(`all real images are absent from ${FOLDER}`, () => {})
