import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BUILT_IN_PRESETS } from '../core/preset-file.ts'
import { readPresets } from './presets.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'img42-presets-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function file(name: string, text: string): Promise<string> {
  const at = path.join(folder, name)
  await writeFile(at, text)
  return at
}

const BROKEN = '{"presets":{"product":{"outputs":[{"name":"small","width":"320"}]}}}'

describe('the presets', () => {
  it('are the built-in one without a file', async () => {
    expect(await readPresets(null)).toBe(BUILT_IN_PRESETS)
  })

  it('are the file’s, where it is whole', async () => {
    const presets = await readPresets(await file('good.json', '{"presets":{"p":{"outputs":[{"name":"a"}]}}}'))
    expect([...presets.keys()]).toEqual(['thumbnail', 'p'])
  })

  it('are refused with the names of the variable, the file and the place', async () => {
    const at = await file('broken.json', BROKEN)
    await expect(readPresets(at)).rejects.toThrow(
      `PRESETS ${at}: presets.product.outputs[0].width has to be a whole number from 1 to 16384, not the text "320".`,
    )
    await expect(readPresets(`${at}.gone`)).rejects.toThrow(
      `PRESETS names ${at}.gone, which cannot be read: ENOENT`,
    )
  })

  it('keep the API from starting where their file is broken', async () => {
    const at = await file('broken-too.json', BROKEN)
    const child = spawn(process.execPath, [path.join(import.meta.dirname, '../apps/api/main.ts')], {
      env: { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', DATA_DIR: folder, PORT: '0', PRESETS: at },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let said = ''
    child.stderr.on('data', (text) => {
      said += text
    })
    const [code] = await once(child, 'close')
    expect(code).toBe(1)
    expect(said).toContain(`img42 api: could not start: PRESETS ${at}: presets.product.outputs[0].width`)
    expect(said).not.toContain('    at ')
  })
})

describe('docs/presets.md', () => {
  const read = () => readFile(path.join(import.meta.dirname, '../docs/presets.md'), 'utf8')

  it('shows files that can be read', async () => {
    const examples = [...(await read()).matchAll(/```json\n(.*?)```/gs)].map(([, text]) => text!)
    expect(examples.length).toBeGreaterThan(0)
    for (const [index, example] of examples.entries()) {
      const presets = await readPresets(await file(`example-${index}.json`, example))
      expect(presets.size).toBeGreaterThan(1)
    }
  })

  it('describes every field, and no other', async () => {
    const rows = [...(await read()).matchAll(/^\| `(\w+)` /gm)].map(([, field]) => field!)
    const presets = await readPresets(
      await file('least.json', '{"presets":{"p":{"outputs":[{"name":"a"}]}}}'),
    )
    const fields = Object.keys(presets.get('p')!.outputs[0]!)
    expect(rows.sort()).toEqual(['outputs', 'linear', 'keep_copyright', ...fields].sort())
  })
})
