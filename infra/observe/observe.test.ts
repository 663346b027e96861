import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'

const ROOT = path.resolve(import.meta.dirname, '../..')
const read = (...parts: string[]) => readFileSync(path.join(ROOT, ...parts), 'utf8')

const RULES = read('infra/observe/rules.yaml')
const TESTS = read('infra/observe/rules.test.yaml')
const DASHBOARD = read('infra/observe/grafana/dashboards/img42.json')
const METRICS = read('docs/metrics.md')
const RUNBOOK = read('docs/operations.md')

const matches = (text: string, pattern: RegExp) => [
  ...new Set([...text.matchAll(pattern)].map(([, name]) => name!)),
]
const alerts = matches(RULES, /- alert: (\w+)/g)

it('rules and dashboard ask for metrics that there are', () => {
  const known = matches(METRICS, /`((?:img42|process|nodejs)_\w+)`/g)
  const asked = [RULES, DASHBOARD].flatMap((text) => matches(text, /\b((?:img42|process|nodejs)_\w+)\b/g))
  const unknown = asked.filter((name) => {
    const series = name.replace(/_(bucket|count|sum)$/, '')
    return !known.includes(name) && !known.includes(series)
  })
  expect(asked.length).toBeGreaterThan(20)
  expect(unknown).toEqual([])
})

it('each alert has its section in the runbook, which names it, and its severity', () => {
  expect(alerts.length).toBeGreaterThan(6)
  expect(matches(RULES, /runbook: docs\/operations\.md#(\w+)/g)).toEqual(
    alerts.map((name) => name.toLowerCase()),
  )
  expect(matches(RUNBOOK, /^### (Img42\w+)$/gm).sort()).toEqual([...alerts].sort())
  expect([...RULES.matchAll(/severity: (page|ticket) /g)]).toHaveLength(alerts.length)
})

it('each alert is tested where it fires, and where it does not', () => {
  for (const alert of alerts) {
    expect(TESTS, alert).toMatch(new RegExp(`alertname: ${alert}, exp_alerts: \\[\\]`))
    expect(TESTS, alert).toMatch(new RegExp(`alertname: ${alert}\\n\\s+exp_alerts:\\n\\s+- exp_labels`))
  }
})
