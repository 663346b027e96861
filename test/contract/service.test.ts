import { expect, test } from 'vitest'
import { contractService } from './service.ts'

test('the service under test is ready', async () => {
  const { url } = await contractService()
  const response = await fetch(`${url}/readyz`)
  expect(response.status).toBe(200)
})
