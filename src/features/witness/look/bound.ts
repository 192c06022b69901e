/** The most that a look may cost, before it begins. */
import type { RequestSize } from "../../../core/ledger.ts";
import type { WorkerHost } from "../../../gateway/seams.ts";
import type { LookBound } from "../messages.ts";
import { QUESTIONS } from "../questions.ts";
import type { Looking } from "./look.ts";
import { bodyOf, FORMAT } from "./request.ts";

/** @throws GatewayError for a model that nothing serves */
export async function boundOf(
  host: Pick<WorkerHost, "bound">,
  looking: Omit<Looking, "by">,
): Promise<LookBound> {
  const { models, outputTokens, principal } = looking;
  let cost = 0;
  const unpriced = new Set<string>();
  for (const model of models)
    for (const question of QUESTIONS) {
      const size = sizeOf(JSON.stringify(bodyOf(question, model, outputTokens)), outputTokens);
      const ask = { format: FORMAT, model, size, embeds: false, principal };
      const found = await host.bound({ ...ask, outputShare: 1, discount: 0 });
      if (found?.cost === undefined) unpriced.add(model);
      else cost += found.cost;
    }
  const calls = models.length * QUESTIONS.length;
  return { calls, unpriced: [...unpriced], ...(unpriced.size === 0 && { cost }) };
}

/** A tokenizer makes at most one token of a byte. */
function sizeOf(body: string, maxTokens: number): RequestSize {
  return {
    text: { words: 0, digits: 0, signs: 0, scripts: 0 },
    ...{ structure: Buffer.byteLength(body), mediaTokens: 0, maxTokens, choices: 1 },
    ...{ hasTools: false, hasServerTools: false },
  };
}
