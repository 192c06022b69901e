/** The support of each model on `/v1/messages`. */
import type { CodecTarget } from "../../core/context.ts";
import { modelFacts, type ModelFacts } from "../shared/claude-models.ts";

export { defaultMaxTokens, modelFacts, type ModelFacts } from "../shared/claude-models.ts";

/** The support of a model at a host. Some hosts know no strict tools, and then no schemas in `output_config` either. */
export function factsFor({ model, traits }: CodecTarget): ModelFacts {
  const facts = modelFacts(model);
  return traits.strictTools === false ? { ...facts, schemas: false } : facts;
}
