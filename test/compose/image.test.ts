import { afterAll, expect, test } from 'vitest'
import { docker } from './engine.ts'

const AGAIN = `img42:test-${process.pid}`
const MOST_BYTES = 350_000_000

afterAll(() => void docker('image', 'rm', '--force', AGAIN))

/** Every file that the build adds: its kind, mode, owner, time, name and content. */
function filesOf(image: string): string {
  const look = `find /img42 /usr/local -not -type d -printf '%y %m %U:%G %T@ %p %l\\n' | sort
    find /img42 /usr/local -type f -exec sha256sum {} + | sort`
  return docker('run', '--rm', '--entrypoint', 'sh', image, '-c', look)
}

const layersOf = (image: string): string[] =>
  JSON.parse(docker('image', 'inspect', '--format', '{{json .RootFS.Layers}}', image))

test('the image, built again without any cache, has the same files to the last bit', () => {
  docker('build', '--no-cache', '--quiet', '--file', 'infra/Dockerfile', '--tag', AGAIN, '.')
  expect(filesOf(AGAIN)).toBe(filesOf('img42'))
  const [first, second] = [layersOf('img42'), layersOf(AGAIN)]
  const same = first.filter((layer, i) => layer === second[i])
  // A builder that gives folders the time of the build makes other layers of the same files.
  console.log(`${same.length} of ${first.length} layers have the same digest`)
  expect(second).toHaveLength(first.length)
}, 300_000)

test(`the image has less than ${MOST_BYTES / 1e6} MB, and a health check`, () => {
  const bytes = Number(docker('image', 'inspect', '--format', '{{.Size}}', 'img42'))
  console.log(`the image has ${Math.round(bytes / 1e6)} MB`)
  expect(bytes).toBeLessThan(MOST_BYTES)
  expect(docker('image', 'inspect', '--format', '{{json .Config.Healthcheck.Test}}', 'img42')).toContain(
    '/healthz',
  )
})
