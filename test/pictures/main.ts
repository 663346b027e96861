// `npm run pictures`: makes the pictures of docs/images.md anew, and the part of the page that shows them.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { FOLDER, MADE_FROM_HERE, make, PAGE } from './made.ts'

const { text, pictures } = await make()
rmSync(FOLDER, { recursive: true, force: true })
mkdirSync(FOLDER)
for (const { file, bytes } of pictures) writeFileSync(path.join(FOLDER, file), bytes)
const [written] = readFileSync(PAGE, 'utf8').split(MADE_FROM_HERE)
writeFileSync(PAGE, `${written}${MADE_FROM_HERE}\n\n${text}`)
const biome = path.resolve(import.meta.dirname, '../../node_modules/.bin/biome')
spawnSync(biome, ['format', '--write', PAGE], { stdio: 'inherit' })
const bytes = pictures.reduce((sum, picture) => sum + picture.bytes.length, 0)
console.log(`${pictures.length} pictures, ${Math.round(bytes / 1_000)} kB`)
