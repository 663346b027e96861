import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { FOLDER, MADE_FROM_HERE, make, PAGE } from '../pictures/made.ts'

// That docs/images.md shows what is made today. `npm run pictures` makes it anew.

// The engine's name has the machine's kind in it, and another kind may round otherwise.
describe.skipIf(process.arch !== 'x64')('docs/images.md, made on x64', () => {
  let made: Awaited<ReturnType<typeof make>>
  beforeAll(async () => {
    made = await make()
  })

  it('the pictures of the page are those that are made today, byte for byte', () => {
    expect(readdirSync(FOLDER).sort()).toEqual(made.pictures.map(({ file }) => file).sort())
    const old = made.pictures.filter(
      ({ file, bytes }) => !readFileSync(path.join(FOLDER, file)).equals(bytes),
    )
    expect(old.map(({ file }) => file)).toEqual([])
  })

  it('the tables of the page are those of the code', () => {
    const [, page] = readFileSync(PAGE, 'utf8').split(MADE_FROM_HERE)
    const words = (text: string) => text.replaceAll(/[\s-]+/g, ' ').trim()
    expect(words(page!)).toBe(words(made.text))
  })
})
