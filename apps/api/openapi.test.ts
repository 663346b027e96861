import express from 'express'
import { expect, test, vi } from 'vitest'
import { openapiDocument } from './openapi.ts'
import { startApi } from './testing/start-api.ts'

test('every route of the app is in the document, and every operation of the document has a route', async () => {
  const added: string[] = []
  const addRoute = express.application.route
  // Each `app.get(…)`, `app.post(…)` and so on goes through this as well.
  const spy = vi.spyOn(express.application, 'route').mockImplementation(function (this: never, path: string) {
    added.push(path)
    return addRoute.call(this, path)
  } as never)
  const api = await startApi()
  spy.mockRestore()
  await api.stop()
  const { paths } = openapiDocument('')
  const documented = Object.keys(paths).map((path) => path.replaceAll(/\{(\w+)\}/g, ':$1'))
  expect([...new Set(added)].sort()).toEqual(documented.sort())
})
