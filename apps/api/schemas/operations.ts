import { listCallbacks, resendCallback } from './callback-operations.ts'
import { deleteImage, getImage, postImage } from './image-operations.ts'
import { cancelJob, getJob, jobEvents, listJobs } from './job-operations.ts'
import type { Operation } from './operation.ts'
import { getDocs, getHealth, getOpenapi, getReadiness } from './service-operations.ts'

/** The whole of the HTTP interface, by operation id. */
export const OPERATIONS = {
  postImage,
  deleteImage,
  getImage,
  getJob,
  listJobs,
  cancelJob,
  jobEvents,
  listCallbacks,
  resendCallback,
  getHealth,
  getReadiness,
  getOpenapi,
  getDocs,
} as const satisfies Record<string, Operation>

export type OperationId = keyof typeof OPERATIONS
