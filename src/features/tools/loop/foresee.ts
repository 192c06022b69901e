/** Explains a request with tools of weir: which it would offer, and what they cost in tokens. It calls none of them. */
import type { Tool } from "../../../core/chat.ts";
import { TextEstimate } from "../../../core/estimate.ts";
import type { Principal } from "../../../core/principal.ts";
import type { Seams } from "../../../gateway/seams.ts";
import type { Bench } from "../bench.ts";
import { makeOffer, type Offer } from "./offer.ts";
import type { ReadJob } from "./read-job.ts";

type Foresight = Awaited<ReturnType<NonNullable<Seams["foresee"]>>>;

export async function foreseeLoop(
  job: ReadJob,
  principal: Principal | undefined,
  bench: Bench,
): Promise<Foresight> {
  const offer = await makeOffer(bench, principal, job);
  const offered = offer.declared.map((tool) => described(tool, offer));
  const tokens = offered.reduce((sum, one) => sum + one.tokens, 0);
  return {
    said: {
      tools: offered,
      tokens,
      ...(offer.missing.length > 0 && { missing: offer.missing.map(({ reason }) => reason) }),
    },
    tokens,
    ...(job.edited && { edited: job.edited }),
    edit(request) {
      const choice = offer.choice(request);
      if (choice) request.toolChoice = choice;
      request.tools = offer.beside(request.tools);
    },
  };
}

function described(tool: Tool, { byName }: Offer) {
  const { name, description = "", parameters } = tool;
  const estimate = new TextEstimate();
  estimate.add(JSON.stringify({ name, description, parameters }));
  return {
    name,
    server: byName.get(name)!.tool.server,
    tokens: estimate.tokens,
    ...(byName.get(name)!.asksFirst && { needs_approval: true }),
  };
}
