import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { clientTypes } from '../apps/api/client-types.ts'
import rootPackage from '../package.json' with { type: 'json' }
import clientPackage from './package.json' with { type: 'json' }

const HERE = import.meta.dirname
let home: string

/** The package built and installed somewhere where there is nothing else. */
beforeAll(() => {
  home = mkdtempSync(path.join(tmpdir(), 'img42-client-'))
  const installed = path.join(home, 'node_modules/img42-client')
  const tsc = path.join(HERE, '../node_modules/typescript/bin/tsc')
  const built = spawnSync(process.execPath, [tsc, '-p', HERE, '--outDir', path.join(installed, 'dist')], {
    encoding: 'utf8',
  })
  expect(built.stdout + built.stderr).toBe('')
  cpSync(path.join(HERE, 'package.json'), path.join(installed, 'package.json'))
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

test('the client’s types are those of the API’s schemas', () => {
  const squeezed = (source: string) => source.replace(/[\s|]+/g, ' ').replaceAll('= ', '=')
  const committed = readFileSync(path.join(HERE, 'types.ts'), 'utf8')
  expect(squeezed(committed), 'run npm run client:types').toBe(squeezed(clientTypes()))
})

test('the package needs nothing but itself', () => {
  expect(clientPackage).not.toHaveProperty('dependencies')
  expect(clientPackage.version).toBe(rootPackage.version)
  const dist = path.join(home, 'node_modules/img42-client/dist')
  for (const file of readdirSync(dist).filter((name) => name.endsWith('.js'))) {
    const source = readFileSync(path.join(dist, file), 'utf8')
    const imports = [...source.matchAll(/\bfrom '([^']+)'|\bimport\('([^']+)'\)/g)].map(([, a, b]) => a ?? b)
    for (const from of imports) expect(from).toMatch(/^\.\/[\w-]+\.js$/)
    expect(source).not.toMatch(/\b(process|Buffer|require)\b/)
  }
})

test('a program that installed it can use it', () => {
  const program = path.join(home, 'program.mjs')
  writeFileSync(
    program,
    `import { createClient, ProblemError, verifyWebhook } from 'img42-client'
     const client = createClient({ baseUrl: 'http://127.0.0.1:1' })
     console.log(Object.keys(client).sort().join(' '), typeof ProblemError, typeof verifyWebhook)`,
  )
  const { stdout, stderr } = spawnSync(process.execPath, [program], { encoding: 'utf8' })
  expect(stderr).toBe('')
  expect(stdout.trim()).toBe(
    'cancel deleteImage download downloadThumbnail events job list upload waitFor function function',
  )
})
