/** Embeds in as many requests as the provider's limit requires, some of them at once, and joins the vectors in order. */
import type { Attempt } from "../../core/call.ts";
import type { EmbedDialect } from "../../core/embed-dialect.ts";
import type { EmbedEndpoint, EmbedRequest } from "../../core/embed.ts";
import { GatewayError } from "../../core/error.ts";
import { isObject, parseJson } from "../../core/json.ts";
import { withHint } from "../lanes/hints.ts";
import type { Prepared } from "../lanes/lane.ts";
import { invalidAnswer, readAnswer, readErrorText } from "../lanes/read-answer.ts";
import { headerFilters, send, upstreamHeaders } from "../lanes/send.ts";
import { refuseLosses } from "../lanes/strict.ts";
import type { Gateway } from "../types.ts";
import type { Vectors } from "./vectors.ts";

/** Requests of one call that run at once. */
const PARALLEL = 8;

/** Limit of an answer: 2,048 vectors of 3,072 numbers as JSON, with room to spare. Bytes. */
export const MAX_VECTORS_BYTES = 128 * 1024 * 1024;

/** How the provider of an attempt is asked. */
export interface Asking {
  dialect: EmbedDialect;
  endpoint: EmbedEndpoint;
  /** Most inputs of one request. */
  size: number;
  gateway: Gateway;
}

/**
 * Asks for the vectors that are missing. The first part that fails ends the others and fails the attempt; the vectors that
 * have arrived are kept.
 * @throws GatewayError the failure of that part
 */
export async function embedInParts(
  request: EmbedRequest,
  attempt: Attempt,
  vectors: Vectors,
  asking: Asking,
): Promise<void> {
  const parts = vectors.missing(asking.size);
  let next = 0;
  let failure: PartFailure | undefined;
  const work = async () => {
    while (next < parts.length && !failure) {
      const places = parts[next++]!;
      const part = { ...request, inputs: places.map((place) => request.inputs[place]!) };
      const seen: Seen = {};
      try {
        await embedPart(part, places, attempt, vectors, asking, seen);
      } catch (thrown) {
        failure ??= { thrown, seen };
        attempt.stop.abort(GatewayError.from(thrown));
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL, parts.length) }, work));
  if (!failure) return;
  // Requests of other parts may have overwritten the status; the retry depends on that of the part which failed.
  attempt.upstreamStatus = failure.seen.status;
  throw failure.thrown;
}

/** The status of a part's answer; absent if there was none. */
interface Seen {
  status?: number;
}

interface PartFailure {
  thrown: unknown;
  seen: Seen;
}

async function embedPart(
  part: EmbedRequest,
  places: readonly number[],
  attempt: Attempt,
  vectors: Vectors,
  { dialect, endpoint, gateway }: Asking,
  seen: Seen,
): Promise<void> {
  const { target, call } = attempt;
  const body = dialect.encodeRequest(part, endpoint, attempt.context);
  refuseLosses(attempt, gateway);
  // The client's headers have a meaning only for a provider of the same dialect.
  const forwarded = target.lane === "native" ? headerFilters(dialect).request(call.headers) : {};
  const prepared: Prepared = {
    target,
    url: target.url,
    headers: upstreamHeaders(target, forwarded, false),
    body: [Buffer.from(JSON.stringify(body))],
    expects: "json",
  };
  const response = await send(prepared, attempt);
  seen.status = response.status;
  if (!response.ok) {
    const text = await readErrorText(response, target);
    throw withHint(dialect.decodeError(response.status, response.headers, text), text, target);
  }
  const text = new TextDecoder().decode(await readAnswer(response, attempt, MAX_VECTORS_BYTES));
  attempt.firstByteAt ??= performance.now();
  const parsed = parseJson(text);
  const answer = isObject(parsed) ? dialect.readAnswer(parsed, response.headers, endpoint) : undefined;
  if (!answer) throw invalidAnswer(target);
  vectors.add(places, answer, attempt);
}
