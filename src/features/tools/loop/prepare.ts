/** What a request with tools of weir becomes: the tools on offer, and the conversation in words that every model understands. */
import type { ChatRequest, Tool, ToolChoice } from "../../../core/chat.ts";
import type { Call } from "../../../core/call.ts";
import { invalidRequest } from "../../../core/error.ts";
import type { Bench } from "../bench.ts";
import { type History, listsIn, pastReader, readHistory } from "./history.ts";
import { makeOffer, type Offer } from "./offer.ts";
import type { ReadJob } from "./read-job.ts";

export interface PreparedRun {
  readonly offer: Offer;
  /** The tools of the request and those on offer. */
  readonly tools: Tool[];
  /** The choice of the first turn. */
  readonly choice: ToolChoice | undefined;
  readonly history: History;
  /** The servers whose lists are in the conversation. */
  readonly listed: { has(server: string): boolean };
}

/**
 * A turn is a request of weir's own. What only one answer of one provider could have, such as a second choice or a conversation that
 * the provider keeps, an answer of several turns cannot.
 */
function refuseUncarried({ extra, ownFields = {} }: ChatRequest): void {
  for (const [format, members] of Object.entries(extra))
    for (const [name, value] of Object.entries(members)) {
      const own = ownFields[format]?.[name];
      if (value === undefined || !own?.refuse?.(value)) continue;
      const why = own.reason === undefined ? "" : `: ${own.reason}`;
      throw invalidRequest(`${name} cannot be carried while weir runs tools${why}; leave it out.`, name);
    }
}

/** @throws GatewayError for members that no turn can carry, for tools that cannot be offered together, or none of which there are */
export async function prepare(
  job: ReadJob,
  request: ChatRequest,
  { format, principal }: Pick<Call, "format" | "principal">,
  bench: Bench,
): Promise<PreparedRun> {
  refuseUncarried(request);
  const read = pastReader(format, job.codec);
  const listed = listsIn(request.turns, read);
  const references = job.references.map((one) => {
    const earlier = one.listed ?? listed.get(one.label);
    return { ...one, ...(earlier && { listed: earlier }) };
  });
  const offer = await makeOffer(bench, principal, {
    references,
    ...(job.choice && { choice: job.choice }),
  });
  const tools = offer.beside(request.tools);
  const history = readHistory(request.turns, offer, read);
  return { offer, tools, choice: offer.choice(request), history, listed };
}
