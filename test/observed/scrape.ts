/** What an app's `/metrics` said at one moment. */
export interface Scrape {
  /** Of every metric, whether it has samples or not. */
  types: Map<string, string>
  samples: Sample[]
  /** The sum of the samples of the name that have these labels; null when there is none. */
  value(name: string, labels?: Record<string, string>): number | null
}

export interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

/** Reads an app's metrics, in Prometheus' text format. */
export async function scrape(metricsPort: number): Promise<Scrape> {
  const response = await fetch(`http://127.0.0.1:${metricsPort}/metrics`)
  if (response.status !== 200) throw new Error(`/metrics answered ${response.status}`)
  const types = new Map<string, string>()
  const samples: Sample[] = []
  for (const line of (await response.text()).split('\n')) {
    const [, typed, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? []
    if (typed && type) types.set(typed, type)
    const [, name, labels = '', value] = /^([a-z]\w*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
    if (!name) continue
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, text]) => [key, text])
    samples.push({ name, labels: Object.fromEntries(pairs), value: Number(value) })
  }
  return {
    types,
    samples,
    value(name, labels = {}) {
      const wanted = Object.entries(labels)
      const found = samples.filter(
        (sample) => sample.name === name && wanted.every(([key, text]) => sample.labels[key] === text),
      )
      return found.length > 0 ? found.reduce((sum, { value }) => sum + value, 0) : null
    },
  }
}
