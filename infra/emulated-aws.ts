/**
 * Starts SQS and S3 in this process, empty, on a free port of 127.0.0.1. They hold everything in memory and forget it
 * when they are stopped.
 */
export async function startEmulatedAws(): Promise<{ endpointUrl: string; stop(): Promise<void> }> {
  // Loaded here, because only tests and demonstrations need it.
  const { buildApp } = await import('fauxqs')
  // Not its own `startFauxqs`, which listens on every address of the machine and asks nobody who they are.
  const app = buildApp({ logger: false })
  // It refuses bodies over 11 MiB, where S3 takes 5 GB in one request.
  app.removeContentTypeParser('*')
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: MAX_PUT_BYTES }, (_request, body, done) =>
    done(null, body),
  )
  const endpointUrl = await app.listen({ port: 0, host: '127.0.0.1' })
  return {
    endpointUrl,
    async stop() {
      app.server.closeAllConnections()
      await app.close()
    },
  }
}

const MAX_PUT_BYTES = 5_000_000_000
