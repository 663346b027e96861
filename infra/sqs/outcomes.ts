import type { EntryRefusal } from '../../core/ports/queue.ts'

/** A batch call's answer as SQS gives it: in any order, by the ids that the call gave its entries. */
export interface BatchAnswer<Success> {
  Successful?: Success[] | undefined
  Failed?: BatchFailure[] | undefined
}

interface BatchFailure {
  Id?: string | undefined
  Code?: string | undefined
  SenderFault?: boolean | undefined
}

/** The id of the entry at this place in its batch. */
export function entryId(index: number): string {
  return String(index)
}

/** The outcomes in the order in which the entries were asked for. An entry that the answer forgot counts as refused. */
export function inOrder<Success extends { Id?: string | undefined }, Outcome>(
  count: number,
  { Successful = [], Failed = [] }: BatchAnswer<Success>,
  outcomeOf: (success: Success) => Outcome,
): (Outcome | EntryRefusal)[] {
  const successes = new Map(Successful.map((success) => [success.Id, success]))
  const failures = new Map(Failed.map((failure) => [failure.Id, failure]))
  return Array.from({ length: count }, (_, index) => {
    const success = successes.get(entryId(index))
    if (success) return outcomeOf(success)
    const failure = failures.get(entryId(index))
    return failure ? refusalOf(failure) : { ok: false, code: 'NoAnswer', permanent: false }
  })
}

/**
 * Permanent is only what SQS calls the sender's fault *and* what is known to lie in the entry itself. KMS and access
 * errors are "the sender's" as well, and every entry has them until an operator mends the configuration: counting one
 * of those as permanent would fail every job that waits.
 */
function refusalOf({ Code = 'Unknown', SenderFault = false }: BatchFailure): EntryRefusal {
  const code = Code.replace(/^AWS\.SimpleQueueService\./, '')
  // LocalStack appends the word to codes that AWS gives without it.
  return { ok: false, code, permanent: SenderFault && PERMANENT.has(code.replace(/Exception$/, '')) }
}

const PERMANENT = new Set([
  // A body with characters that SQS does not take.
  'InvalidMessageContents',
  // A message over the queue's size, a name or value of an attribute that is none; a change of visibility that would
  // pass 12 hours, or of a message that is no longer in flight.
  'InvalidParameterValue',
  'InvalidAttributeName',
  'InvalidAttributeValue',
  'MessageTooLong',
  // A receipt handle of a message that is no longer in flight, or that was never one.
  'MessageNotInflight',
  'ReceiptHandleIsInvalid',
])
