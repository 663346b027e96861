import type { RequestListener } from 'node:http'
import express, { type Request, type Response } from 'express'
import type { Random } from '../../core/ports/random.ts'
import type { Tenants } from '../../core/ports/tenants.ts'
import { authenticate } from './auth.ts'
import { type CallbackParts, callbacksRoute, resendRoute } from './callback-routes.ts'
import { type CancelParts, cancelRoute } from './cancel-route.ts'
import { cors } from './cors.ts'
import { type DeleteParts, deleteRoute } from './delete-route.ts'
import { documentRoutes } from './document-routes.ts'
import { errorHandler, notFound, unknownExpectation } from './error-handler.ts'
import { type EventParts, eventsRoute } from './events-route.ts'
import { type HealthParts, healthRoute, readyRoute } from './health-route.ts'
import { requireHost } from './host-header.ts'
import { type ImageParts, imageRoute } from './image-route.ts'
import { type JobParts, jobRoute } from './job-route.ts'
import { type ListParts, listRoute } from './list-route.ts'
import { addRoutes } from './operation-routes.ts'
import { PROBLEMS, sendProblem } from './problem.ts'
import { limitRate } from './rate-limit.ts'
import { limitUploads } from './rate-uploads.ts'
import { logRequests } from './request-log.ts'
import { type UploadParts, uploadRoute } from './upload-route.ts'

export type ApiParts = UploadParts &
  ImageParts &
  DeleteParts &
  HealthParts &
  CallbackParts &
  JobParts &
  ListParts &
  CancelParts &
  EventParts & {
    random: Random
    /** null: no keys are asked for, and everything is one tenant's. */
    tenants: Tenants | null
    /** Whose scripts may use the API from a browser. */
    corsOrigins: readonly string[]
  }

/** The whole of the HTTP interface. */
export function createApp(parts: ApiParts): RequestListener {
  const app = express()
  app.disable('x-powered-by').disable('etag').disable('query parser').enable('case sensitive routing')
  app.use(logRequests(parts), requireHost, cors(parts.corsOrigins), unknownExpectation)
  app.use('/v1', authenticate(parts.tenants), limitRate(parts.clock))
  app.post('/v1/images', limitUploads(parts.tenants, parts.clock))

  addRoutes(app, {
    postImage: uploadRoute(parts),
    deleteImage: deleteRoute(parts),
    getImage: imageRoute(parts),
    getJob: jobRoute(parts),
    listJobs: listRoute(parts),
    cancelJob: cancelRoute(parts),
    jobEvents: eventsRoute(parts),
    listCallbacks: callbacksRoute(parts),
    resendCallback: resendRoute(parts),
    getHealth: healthRoute,
    getReadiness: readyRoute(parts),
    ...documentRoutes(),
  })

  app.use(notFound)
  app.use(errorHandler(parts.log))
  return (request, response) =>
    app(request as Request, response as Response, () => {
      // No handler is reached with a target that the router cannot read, and express's own answer is a page of HTML.
      sendProblem(request, response, PROBLEMS.malformedUrl)
    })
}
