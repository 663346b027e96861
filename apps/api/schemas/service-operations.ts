import { z } from 'zod'
import * as headers from './headers.ts'
import type { Operation } from './operation.ts'

export const getHealth = {
  method: 'get',
  path: '/healthz',
  tag: 'Service',
  summary: 'Whether the process is alive',
  open: true,
  answers: {
    200: {
      description: 'It is.',
      headers: { 'Cache-Control': headers.noStoreHeader },
      json: z.strictObject({ status: z.literal('alive') }),
    },
  },
} as const satisfies Operation

export const getReadiness = {
  method: 'get',
  path: '/readyz',
  tag: 'Service',
  summary: 'Whether the service can take requests',
  open: true,
  answers: {
    200: {
      description: 'Its database and store answer.',
      headers: { 'Cache-Control': headers.noStoreHeader },
      json: z.strictObject({ status: z.literal('ready') }),
    },
  },
  problems: ['not_ready'],
} as const satisfies Operation

const documentHeaders = {
  ETag: z.string(),
  'Cache-Control': z.literal('no-cache'),
  'X-Content-Type-Options': z.literal('nosniff'),
}

export const getOpenapi = {
  method: 'get',
  path: '/openapi.json',
  tag: 'Service',
  summary: 'This description',
  open: true,
  requestHeaders: { 'If-None-Match': z.string().optional() },
  answers: {
    200: {
      description: 'OpenAPI 3.1.',
      headers: documentHeaders,
      json: z.looseObject({ openapi: z.literal('3.1.1') }),
    },
    304: { description: 'The client has it.', headers: documentHeaders },
  },
} as const satisfies Operation

export const getDocs = {
  method: 'get',
  path: '/docs',
  tag: 'Service',
  summary: 'This description, to read',
  open: true,
  requestHeaders: { 'If-None-Match': z.string().optional() },
  answers: {
    200: {
      description: 'A page without scripts.',
      headers: { ...documentHeaders, 'Content-Security-Policy': z.string() },
      other: ['text/html'],
    },
    304: { description: 'The client has it.', headers: documentHeaders },
  },
} as const satisfies Operation
