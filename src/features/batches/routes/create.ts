/** Makes and finds batches: what the three dialects have in common. */
import { GatewayError, invalidRequest } from "../../../core/error.ts";
import type { KeptFile, KeptFiles } from "../../../core/kept-files.ts";
import type { Principal } from "../../../core/principal.ts";
import type { Visit } from "../../../gateway/seams.ts";
import { type Foresee, sayExcess } from "../admission.ts";
import type { Asks } from "../asks.ts";
import { type Batch, moved } from "../batch.ts";
import type { NewRow } from "../messages.ts";
import type { Conversion } from "../lines/requests.ts";
import { ownerOf, type Seer, seerOf } from "../owner.ts";
import { timeMs } from "../section.ts";
import {
  batchEnded,
  batchNotEnded,
  batchNotFound,
  inputTooLarge,
  tooManyBatches,
  tooManyTokens,
  unsupportedEndpoint,
} from "../shapes/errors.ts";
import { tokensIn } from "../waiting.ts";
import { createKeptId } from "../../../core/kept-id.ts";
import { batchIdIn, type Dialect } from "../shapes/ids.ts";
import type { Losses } from "./losses.ts";
import type { ListPage } from "../shapes/pages.ts";

export interface Batches {
  readonly asks: Pick<Asks, "ask">;
  /** @throws GatewayError while the gateway keeps no files */
  files(): KeptFiles;
  readonly share: "key" | "path";
  /** Longest time of a batch: `24h`. */
  readonly window: string;
  /** Of the config. */
  readonly limits: {
    readonly lines: number;
    readonly bytes: number;
    readonly perKey: number;
    readonly queuedTokens: number;
  };
  readonly foresee: Foresee;
  /** That of the batch which the request makes. @throws GatewayError 400 */
  priority(this: void): number;
  /** Counts what the format of a reader could not carry of all results. */
  lose(batch: Batch, reader: Dialect, losses: Losses): void;
}

/** Handles a request of one operation. */
export type Handle = (batches: Batches, request: Request, visit: Visit) => Promise<Response>;

/** The name of batches in the scope `endpoints` of keys. */
const ENDPOINT = "batches";

/** How long results are kept. Milliseconds. */
const RESULTS_MS = 29 * 24 * 3_600_000;
/** Seconds after which a client that has too many batches may ask again. */
const LIMIT_RETRY = 60;

/** Who asks, and what they see. */
export interface Asking {
  readonly principal: Principal | undefined;
  readonly seer: Seer;
  readonly address: string;
}

export async function asking(visit: Visit, { share }: Pick<Batches, "share">): Promise<Asking> {
  const principal = await visit.caller(ENDPOINT);
  return { principal, seer: seerOf(principal, share), address: visit.address };
}

export interface NewBatch {
  readonly endpoint: string;
  readonly input: KeptFile;
  /** Milliseconds. */
  readonly window: number;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly name?: string;
  readonly isInline?: true;
  /** The input is a copy: its client cannot name it, and so not delete it. Those of bodies are, too. */
  readonly isCopy?: true;
}

/** @throws GatewayError 400 for a priority that is none; 429 for too many batches, and for one that does not fit a hard budget; 413 for an input that is too large */
export async function createBatch(
  { asks, files, limits: { perKey, bytes, queuedTokens }, foresee, priority: priorityOf }: Batches,
  { principal, address }: Asking,
  { endpoint, input, window, metadata = {}, name, isInline, isCopy = isInline }: NewBatch,
): Promise<Batch> {
  if (!isInline && input.bytes > bytes) throw inputTooLarge(bytes);
  const forget = async () => void (isCopy && (await files().remove(input.id)));
  const asked = async () => ({
    priority: priorityOf(),
    needs: await foresee({ endpoint, input }, principal),
  });
  const { priority, needs } = await asked().catch(async (thrown: unknown) => {
    await forget();
    throw thrown;
  });
  const createdAt = Date.now();
  const owner = ownerOf(principal, address);
  const { path, key, person } = owner;
  const batch: Batch = {
    ...{ id: createKeptId(createdAt), path, endpoint, state: "checking", how: "run", window, metadata },
    ...(key !== undefined && { key }),
    ...(person !== undefined && { person }),
    ...(name !== undefined && { name }),
    ...(isInline && { isInline }),
    ...(priority > 0 && { priority }),
    ...{ inputFile: input.id, lines: 0, done: 0, failed: 0, cancelled: 0, late: 0 },
    ...{ createdAt, deadline: createdAt + window, expiresAt: createdAt + window + RESULTS_MS, faults: [] },
    ...{ usage: { input: 0, cached: 0, output: 0, reasoning: 0 }, cost: 0, held: 0 },
    tokens: tokensIn(input.bytes),
  };
  await files().hold(input.id, batch.id);
  try {
    const row = { batch, owner, most: perKey, queued: queuedTokens, ...(needs && { needs }) };
    const answer = await asks.ask({ create: row });
    if ("batch" in answer && answer.batch) return answer.batch;
    await files().release(input.id, batch.id);
    if ("excess" in answer) throw sayExcess(answer.excess);
    if ("queued" in answer) {
      const fault = tooManyTokens(tokensIn(input.bytes), answer.queued, queuedTokens);
      if (isInline) throw fault;
      return await madeRefused(asks, row, fault);
    }
    throw tooManyBatches(perKey, LIMIT_RETRY);
  } catch (thrown) {
    await files().release(input.id, batch.id);
    await forget();
    throw thrown;
  }
}

/** OpenAI's clients expect a batch that has failed. @throws the fault if the key has too many batches as well */
async function madeRefused(
  asks: Batches["asks"],
  row: NewRow,
  { code = "", message }: GatewayError,
): Promise<Batch> {
  const faults = [{ code, message }];
  const batch = moved({ ...row.batch, faults }, "refused", row.batch.createdAt, message);
  const answer = await asks.ask({ create: { ...row, batch, queued: Number.MAX_SAFE_INTEGER } });
  if (!("batch" in answer) || !answer.batch) throw tooManyBatches(row.most, LIMIT_RETRY);
  return answer.batch;
}

/** Keeps the requests of a body as the input of a batch. @throws GatewayError, and nothing is kept */
export function keepInput(
  batches: Batches,
  { principal }: Asking,
  conversion: Conversion,
): Promise<KeptFile> {
  // Not before the results, which are read in the order of the input.
  const expiresAt = Date.now() + timeMs(batches.window) + RESULTS_MS;
  const facts = { name: "requests.jsonl", purpose: "batch", mime: "application/jsonl", expiresAt };
  return batches.files().write({ ...facts, ...fileOwner(principal) }, conversion.lines());
}

function fileOwner(principal: Principal | undefined): Pick<KeptFile, "path" | "key" | "person"> {
  const { path, key, person } = ownerOf(principal, "");
  return { path, ...(key !== undefined && { key }), ...(person !== undefined && { person }) };
}

/** @param written the id as the client wrote it @throws GatewayError 404 */
export async function batchOf({ asks }: Batches, { seer }: Asking, written: string): Promise<Batch> {
  const answer = await asks.ask({ get: { id: idOf(written), seer } });
  if ("batch" in answer && answer.batch) return answer.batch;
  throw batchNotFound(written);
}

export async function batchesOf({ asks }: Batches, { seer }: Asking, page: ListPage) {
  const answer = await asks.ask({ list: { ...page, seer } });
  if ("batches" in answer) return answer;
  throw new GatewayError("internal", "The keeper gave no list of batches.");
}

/** @throws GatewayError 404, 409 */
export async function cancelBatch({ asks }: Batches, { seer }: Asking, written: string): Promise<Batch> {
  const answer = await asks.ask({ cancel: { id: idOf(written), seer } });
  if ("refused" in answer) throw batchEnded(written);
  if ("batch" in answer) return answer.batch;
  throw batchNotFound(written);
}

/** @throws GatewayError 404, 400 */
export async function removeBatch(
  { asks, files }: Batches,
  { seer }: Asking,
  written: string,
): Promise<Batch> {
  const answer = await asks.ask({ remove: { id: idOf(written), seer } });
  if ("refused" in answer) throw batchNotEnded(written);
  if (!("batch" in answer)) throw batchNotFound(written);
  const { outputFile, errorFile } = answer.batch;
  for (const file of [outputFile, errorFile]) if (file !== undefined) await files().remove(file);
  return answer.batch;
}

function idOf(written: string): string {
  const id = batchIdIn(written);
  if (id !== undefined) return id;
  throw batchNotFound(written.slice(0, 80));
}

/** The segment of a path behind `batches`, without a method. */
export function idIn({ url }: Request): string {
  const segments = new URL(url).pathname.split("/");
  const segment = segments[segments.indexOf("batches") + 1] ?? "";
  return decodeURIComponent(segment).replace(/:[a-zA-Z]+$/, "");
}

/** Endpoints of lines; those of Gemini have a model in their path. */
const SERVED = ["/v1/chat/completions", "/v1/responses", "/v1/embeddings", "/v1/messages"];
const GEMINI = /^\/v1beta\/models\/[^?#]{1,256}:(generateContent|embedContent)$/;

/** @throws GatewayError 400 that names the endpoints that lines may have */
export function assertEndpoint(endpoint: unknown): asserts endpoint is string {
  if (typeof endpoint === "string" && (SERVED.includes(endpoint) || GEMINI.test(endpoint))) return;
  throw unsupportedEndpoint(String(endpoint).slice(0, 200), [
    ...SERVED,
    "/v1beta/models/MODEL:generateContent",
  ]);
}

const LEAST_WINDOW_MS = 60_000;

/** @param written such as `24h` @param most the longest one @returns milliseconds @throws GatewayError 400 */
export function windowOf(written: unknown, most: string): number {
  const isTime = typeof written === "string" && /^[1-9][0-9]{0,3}[mhd]$/.test(written);
  const ms = isTime ? timeMs(written) : 0;
  if (ms >= LEAST_WINDOW_MS && ms <= timeMs(most)) return ms;
  throw invalidRequest(
    `\`completion_window\` must be a time from 1m to ${most}, such as 24h.`,
    "completion_window",
    "invalid_value",
  );
}

/** A window for clients that name none: a day, if the gateway permits that much. */
export function usualWindow(most: string): number {
  return Math.min(timeMs("24h"), timeMs(most));
}
