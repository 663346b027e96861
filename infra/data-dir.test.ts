import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeDataDir } from './data-dir.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'img42-data-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

test('a data folder is made with those above it, and may be there already', async () => {
  const dataDir = path.join(folder, 'a/b/c')
  makeDataDir(dataDir)
  makeDataDir(dataDir)
  expect((await stat(dataDir)).isDirectory()).toBe(true)
})

test('a data folder that cannot be made is refused by the variable’s name, at once', async () => {
  const file = path.join(folder, 'file')
  await writeFile(file, '')
  const places = [
    file,
    path.join(file, 'below'),
    ...(process.platform === 'linux' ? ['/proc/nope/deep'] : []),
  ]
  for (const place of places) expect(() => makeDataDir(place)).toThrow(/^DATA_DIR .* cannot be used: .*/)
})
