import type { RequestListener } from 'node:http'
import express, { type Request, type Response } from 'express'
import type { Random } from '../../core/ports/random.ts'
import { type DeleteParts, deleteRoute } from './delete-route.ts'
import { errorHandler, methodNotAllowed, notFound, unknownExpectation } from './error-handler.ts'
import { type HealthParts, healthRoute, readyRoute } from './health-route.ts'
import { type ImageParts, imageRoute } from './image-route.ts'
import { jobRoute } from './job-route.ts'
import { PROBLEMS, sendProblem } from './problem.ts'
import { logRequests } from './request-log.ts'
import { type UploadParts, uploadRoute } from './upload-route.ts'

export type ApiParts = UploadParts & ImageParts & DeleteParts & HealthParts & { random: Random }

/** The whole of the HTTP interface. */
export function createApp(parts: ApiParts): RequestListener {
  const app = express()
  app.disable('x-powered-by').disable('etag').disable('query parser').enable('case sensitive routing')
  app.use(logRequests(parts), unknownExpectation)

  app.route('/v1/images').post(uploadRoute(parts)).all(methodNotAllowed('POST'))
  app.route('/v1/images/:id').delete(deleteRoute(parts)).all(methodNotAllowed('DELETE'))
  app.route('/v1/images/:id/:output').get(imageRoute(parts)).all(methodNotAllowed('GET', 'HEAD'))
  app.route('/v1/jobs/:id').get(jobRoute(parts)).all(methodNotAllowed('GET', 'HEAD'))
  app.route('/healthz').get(healthRoute).all(methodNotAllowed('GET', 'HEAD'))
  app.route('/readyz').get(readyRoute(parts)).all(methodNotAllowed('GET', 'HEAD'))

  app.use(notFound)
  app.use(errorHandler(parts.log))
  return (request, response) =>
    app(request as Request, response as Response, () => {
      // No handler is reached with a target that the router cannot read, and express's own answer is a page of HTML.
      sendProblem(request, response, PROBLEMS.malformedUrl)
    })
}
