import { mkdir, mkdtemp, readFile, rm, rmdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { moveDurably, removeEmptyFolders } from './folders.ts'

describe('folders of the file store', () => {
  let root: string
  beforeEach(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'img42-test-'))
  })
  afterEach(() => rm(root, { recursive: true, force: true }))

  it('take a file in while deletes take the folder away, again and again', async () => {
    const folder = path.join(root, 'a')
    const target = path.join(folder, 'b', 'file')
    let moving = true
    const remover = async () => {
      while (moving) await removeEmptyFolders(path.join(folder, 'b'), root)
    }
    const removers = Promise.all([remover(), remover()])
    for (let moves = 0; moves < 10; moves++) {
      await writeFile(path.join(root, 'new'), String(moves))
      await moveDurably(path.join(root, 'new'), target, root)
      expect(await readFile(target, 'utf8')).toBe(String(moves))
      await rm(target)
    }
    moving = false
    await removers
  })

  it('are left alone when the file to be moved is not there', async () => {
    await expect(moveDurably(path.join(root, 'none'), path.join(root, 'a/file'), root)).rejects.toThrow(
      'ENOENT',
    )
  })

  it('go upwards as far as they are empty', async () => {
    await mkdir(path.join(root, 'a/b/c'), { recursive: true })
    await writeFile(path.join(root, 'a/file'), '')
    expect(await removeEmptyFolders(path.join(root, 'a/b/c'), root)).toBe(path.join(root, 'a'))
    await rm(path.join(root, 'a/file'))
    expect(await removeEmptyFolders(path.join(root, 'a'), root)).toBe(root)
    await rmdir(root)
    await mkdir(root)
  })
})
