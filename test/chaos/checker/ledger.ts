/** What a client knows about one upload, and nothing else: the checker believes only what it was told and what it sees. */
export interface Upload {
  key: string
  image: CheckedImage
  /** From the 202; null as long as there was none. */
  jobId: string | null
  /** As the API last answered. */
  status: string | null
}

/** An image of the load, as `images.json` lists it. */
export interface CheckedImage {
  file: string
  contentType: string
  sha256: string
  /** The statuses and codes that its job may end with. */
  ends: { status: string; codes: string[] }
}

/** What the checker is started with. */
export interface CheckerOrder {
  apiUrl: string
  databaseUrl: string
  s3Url: string
  bucket: string
  folder: string
  images: CheckedImage[]
  seed: number
  /** Clients that upload at once; each sends its next image when the one before was accepted. */
  clients: number
  pauseMs: number
  /** Uploads wait while so many jobs are not done. */
  maxOpen: number
  /** How long the backlog may take to drain once the faults have stopped. */
  drainMs: number
}

export interface CheckerReport {
  attempted: number
  accepted: number
  succeeded: number
  /** As the image deserves. */
  failed: number
  /** Requests that had no answer, or one that says to try again. */
  unanswered: number
  /** From the end of the faults until every job was terminal; null when that did not come. */
  drainedAfterMs: number | null
  lost: string[]
  duplicated: string[]
  unexpected: string[]
}

export interface Findings {
  lost: string[]
  duplicated: string[]
  unexpected: string[]
}
