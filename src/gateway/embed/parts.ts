/** Embeds in as many requests as the provider's limit requires, some of them at once, and joins the vectors in order. */
import type { Attempt } from "../../core/call.ts";
import type { EmbedAnswer, EmbedRequest } from "../../core/embed.ts";
import { GatewayError } from "../../core/error.ts";
import { isObject, parseJson } from "../../core/json.ts";
import { withHint } from "../lanes/hints.ts";
import type { Prepared } from "../lanes/lane.ts";
import { adoptReported, NOTES, refuseLosses } from "../lanes/losses.ts";
import { invalidAnswer, readAnswer, readErrorText } from "../lanes/read-answer.ts";
import { headerFilters } from "../lanes/header-filter.ts";
import { send, upstreamHeaders } from "../lanes/send.ts";
import type { Gateway } from "../types.ts";
import type { Vectors } from "./vectors.ts";
import type { Way } from "./way.ts";

/** Requests of one call that run at once. */
const PARALLEL = 8;

/** Limit of an answer: 2,048 vectors of 3,072 numbers as JSON, with room to spare. Bytes. */
export const MAX_VECTORS_BYTES = 128 * 1024 * 1024;

/**
 * Asks for the vectors that are missing. The first part that fails ends the others and fails the attempt; the vectors that
 * have arrived are kept.
 * @throws GatewayError the failure of that part
 */
export async function embedInParts(
  request: EmbedRequest,
  attempt: Attempt,
  vectors: Vectors,
  way: Way,
  gateway: Gateway,
): Promise<void> {
  const parts = vectors.missing(way.size);
  let next = 0;
  let failure: PartFailure | undefined;
  const work = async () => {
    while (next < parts.length && !failure) {
      const places = parts[next++]!;
      const seen: Seen = {};
      try {
        const prepared = preparePart(request, places, attempt, way, gateway);
        vectors.add(places, await embedPart(prepared, attempt, way, seen, gateway), attempt);
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

/** The request for the vectors of the inputs at `places`. @throws GatewayError for an option that the host cannot take */
export function preparePart(
  request: EmbedRequest,
  places: readonly number[],
  attempt: Attempt,
  { dialect, endpoint }: Way,
  context: Pick<Gateway, "strict">,
): Prepared {
  const { target, call } = attempt;
  const part = { ...request, inputs: places.map((place) => request.inputs[place]!) };
  const body = dialect.encodeRequest(part, endpoint, attempt.context);
  for (const { loss, path } of request.leftOut ?? []) attempt.reportLoss(loss, path, NOTES[loss]);
  refuseLosses(attempt, context);
  // The client's headers have a meaning only for a provider of the same dialect.
  const forwarded = target.lane === "native" ? headerFilters(dialect).request(call.headers) : {};
  return {
    target,
    url: target.url,
    headers: upstreamHeaders(target, forwarded, false),
    body: [Buffer.from(JSON.stringify(body))],
    expects: "json",
  };
}

async function embedPart(
  prepared: Prepared,
  attempt: Attempt,
  { dialect, endpoint }: Way,
  seen: Seen,
  gateway: Gateway,
): Promise<EmbedAnswer> {
  const { target } = attempt;
  const response = await send(prepared, attempt);
  seen.status = response.status;
  if (!response.ok) {
    const text = await readErrorText(response, target);
    throw withHint(dialect.decodeError(response.status, response.headers, text), text, target);
  }
  await adoptReported(response, attempt, gateway);
  const text = new TextDecoder().decode(await readAnswer(response, attempt, MAX_VECTORS_BYTES));
  attempt.firstByteAt ??= performance.now();
  const parsed = parseJson(text);
  const answer = isObject(parsed) ? dialect.readAnswer(parsed, response.headers, endpoint) : undefined;
  if (!answer) throw invalidAnswer(target);
  return answer;
}
