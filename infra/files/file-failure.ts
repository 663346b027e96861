import { DependencyError } from '../../core/errors.ts'

/**
 * What a failed call to the file system is to its caller: the signal's reason when the signal ended it, a
 * {@link DependencyError} when the system refused (disk full, I/O error, no permission), otherwise what it was.
 */
export function fileFailure(step: string, error: unknown, signal?: AbortSignal): unknown {
  if (signal?.aborted) return signal.reason
  if (!isSystemError(error)) return error
  return new DependencyError('object_store', `${step}: ${error.code}`, { cause: error })
}

/** Whether an operation failed because there is no file of that name; a folder is none. */
export function isAbsent(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? '')
}

/** Settles a promise of which it makes no difference whether the file was there. */
export async function ifPresent<T>(promise: Promise<T>): Promise<T | null> {
  try {
    return await promise
  } catch (error) {
    if (isAbsent(error)) return null
    throw error
  }
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'errno' in error && 'syscall' in error
}
