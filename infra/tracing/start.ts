import { hostname } from 'node:os'

export interface TracingOptions {
  /** Where spans go by OTLP over HTTP, such as `http://collector:4318`; `/v1/traces` is appended. */
  endpoint: string
  /** The share of traces that is kept, 0 to 1; one that came with a request keeps its own answer. */
  ratio: number
}

/** Ends tracing: what is not sent within the time is lost. */
export type StopTracing = (withinMs: number) => Promise<void>

/**
 * Turns tracing on for this process. The SDK is loaded here and nowhere else: without tracing it is not even read.
 *
 * A collector that is away costs spans, and nothing else: {@link QUEUE_SPANS} wait at most, in the background.
 */
export async function startTracing(
  app: string,
  version: string,
  { endpoint, ratio }: TracingOptions,
): Promise<StopTracing> {
  const [api, sdk, { AsyncLocalStorageContextManager }, { resourceFromAttributes }, { OTLPTraceExporter }] =
    await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/context-async-hooks'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/exporter-trace-otlp-http'),
    ])
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/$/, '')}/v1/traces`,
    timeoutMillis: EXPORT_MS,
  })
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({
      'service.name': `img42-${app}`,
      'service.version': version,
      'service.instance.id': `${hostname()}/${process.pid}`,
    }),
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [
      new sdk.BatchSpanProcessor({
        exporter,
        maxQueueSize: QUEUE_SPANS,
        scheduledDelayMillis: SEND_EVERY_MS,
        exportTimeoutMillis: EXPORT_MS,
      }),
    ],
  })
  api.trace.setGlobalTracerProvider(provider)
  api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  return (withinMs) => {
    const time = AbortSignal.timeout(withinMs)
    const over = new Promise<void>((resolve) => time.addEventListener('abort', () => resolve()))
    return Promise.race([provider.shutdown().catch(() => {}), over])
  }
}

const QUEUE_SPANS = 4_096
const SEND_EVERY_MS = 1_000
const EXPORT_MS = 5_000
