/** A batch as Google's clients see it: a long-running operation. */
import { type Batch, endedLines, isEnd, phase, type State } from "../batch.ts";
import { writeTime } from "./anthropic.ts";
import { batchIdFor, fileIdFor } from "./ids.ts";
import { dialectOf } from "./results.ts";

/**
 * Whether the results are in a file that the operation names: its requests were lines of Google's in a file. The operation itself
 * has those of other batches, as clients of Google cannot know the names of their files.
 */
export function isInFile({ endpoint, isInline }: Batch): boolean {
  return !isInline && dialectOf(endpoint) === "google";
}

const STATE = {
  checking: "BATCH_STATE_PENDING",
  waiting: "BATCH_STATE_PENDING",
  running: "BATCH_STATE_RUNNING",
  closing: "BATCH_STATE_RUNNING",
  stopping: "BATCH_STATE_RUNNING",
  done: "BATCH_STATE_SUCCEEDED",
  refused: "BATCH_STATE_FAILED",
  stopped: "BATCH_STATE_CANCELLED",
  late: "BATCH_STATE_EXPIRED",
} as const satisfies Record<Exclude<State, "paused">, string>;

const TYPE = "type.googleapis.com/google.ai.generativelanguage.v1.";
const FAILED_PRECONDITION = 9;

/** The operation without the results that it has itself; `googleOperationText` has them. */
export function googleOperation(batch: Batch) {
  const { state, faults, reason, name, model } = batch;
  const hasEnded = isEnd(state);
  const message = reason ?? faults[0]?.message ?? "The batch was refused.";
  return {
    name: batchIdFor("google", batch.id),
    metadata: {
      "@type": `${TYPE}${embeds(batch) ? "EmbedContentBatch" : "GenerateContentBatch"}`,
      ...(model !== undefined && { model: `models/${model}` }),
      ...(name !== undefined && { displayName: name }),
      state: STATE[phase(batch)],
      createTime: writeTime(batch.createdAt),
      updateTime: writeTime(updatedAt(batch)),
      ...(batch.endedAt !== undefined && { endTime: writeTime(batch.endedAt) }),
      batchStats: statsOf(batch),
      ...(hasEnded && state !== "refused" && outputOf(batch)),
    },
    done: hasEnded,
    ...(state === "refused" && { error: { code: FAILED_PRECONDITION, message } }),
  };
}

/**
 * The text of an operation with its results, in pieces.
 * @param results JSON texts in the order of the input, as `googleResult` writes them
 */
export async function* googleOperationText(
  batch: Batch,
  results: AsyncIterable<string>,
): AsyncGenerator<string, void> {
  const text = JSON.stringify(googleOperation(batch));
  const list = `"${LIST}":[`;
  // No text of the batch can have it: a quote in one is escaped.
  const at = text.indexOf(`${list}]`);
  if (at < 0) {
    yield text;
    return;
  }
  yield text.slice(0, at + list.length);
  let isFirst = true;
  for await (const result of results) {
    yield isFirst ? result : `,${result}`;
    isFirst = false;
  }
  yield text.slice(at + list.length);
}

/** @param batches the newest first @param hasMore whether older ones follow */
export function googleList(batches: readonly Batch[], hasMore: boolean) {
  const last = batches.at(-1);
  return {
    operations: batches.map((batch) => googleOperation(batch)),
    ...(hasMore && last && { nextPageToken: last.id }),
  };
}

const LIST = "inlinedResponses";

/** Whether the lines of a batch ask for embeddings. */
function embeds({ endpoint }: Batch): boolean {
  return /embed/i.test(endpoint);
}

function outputOf(batch: Batch) {
  if (!isInFile(batch)) {
    const member = embeds(batch) ? "inlinedEmbedContentResponses" : LIST;
    return { output: { [member]: { [LIST]: [] } } };
  }
  const file = resultsFile(batch);
  return file === undefined ? {} : { output: { responsesFile: fileIdFor("google", file) } };
}

/** The id of the file in which clients of Google find all results; undefined: there are none. */
export function resultsFile({ outputFile, errorFile }: Batch): string | undefined {
  return outputFile ?? errorFile;
}

function updatedAt({ createdAt, startedAt = 0, closingAt = 0, stoppingAt = 0, endedAt = 0 }: Batch): number {
  return Math.max(createdAt, startedAt, closingAt, stoppingAt, endedAt);
}

/** Google writes 64-bit numbers as texts, and leaves out those that are 0. */
function statsOf(batch: Batch) {
  const { lines, done } = batch;
  const failed = endedLines(batch) - done;
  const pending = lines - done - failed;
  return {
    requestCount: String(lines),
    ...(done > 0 && { successfulRequestCount: String(done) }),
    ...(failed > 0 && { failedRequestCount: String(failed) }),
    ...(pending > 0 && { pendingRequestCount: String(pending) }),
  };
}
