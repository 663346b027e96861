/**
 * What must hold, by the names under which reports speak of it. The numbers are those of the design's list; what has
 * none follows from the steps that the design describes.
 */
export const INVARIANTS = {
  accepted_is_durable: '1: a 202 means job, record, outbox row or publication, and the original, intact',
  becomes_terminal: '2: every job becomes terminal once faults stop',
  one_completion: '3: one completion per generation; a terminal state never changes by itself',
  arrows: '4: status only moves along the arrows; a read never goes back',
  outputs_exist: '5: SUCCEEDED means every output exists with its recorded hash and size',
  fence: '6: a write with an older fence changes nothing; fences rise strictly',
  marker: '7: marker and completion, both or neither',
  deleted_when_durable: '8: a message is deleted only after a durable end or record',
  outbox_confirmed: '9: an outbox row goes only after the broker took a message for it',
  idempotent: '10: same tenant, key and payload, same job; another payload, 422',
  calm: '11: without faults one claim, one publish and one receive per job, and no sweep acts',
  budget: '12: an image costs at most its budget',
  outage: '13: an outage fails no job and charges no budget',
  drain: '14: a stopping process loses nothing, charges nobody, and ends in time',
  lease: 'step 5: a job is claimed only when it is due and no live lease holds it',
  callback: 'webhooks: one callback is owed for each end of a job that asked for one, and no other',
  dead_letter: 'sweeps: a dead letter changes no job that is finished, held, or of a later generation',
  moderation:
    'results: a job has the verdict on the very picture that was shown, and what is rejected has no outputs',
  defect: 'no step meets an error that nobody foresaw',
} as const

export type Invariant = keyof typeof INVARIANTS

export interface Violation {
  invariant: Invariant
  text: string
}

export type Report = (invariant: Invariant, text: string) => void
