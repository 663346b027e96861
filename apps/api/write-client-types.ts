// `npm run client:types`: writes client/types.ts anew, after a change of the schemas.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { clientTypes } from './client-types.ts'

const root = path.resolve(import.meta.dirname, '../..')
const file = path.join(root, 'client/types.ts')
writeFileSync(file, clientTypes())
spawnSync(path.join(root, 'node_modules/.bin/biome'), ['format', '--write', file], { stdio: 'inherit' })
