/** The options of a request that lists of models name as `supported_parameters`, each with a sample and with what it needs. */
import type { JsonObject } from "../../../core/json.ts";
import type { Abilities } from "../../../core/model-facts.ts";

interface Option {
  members: JsonObject;
  /** Whether a model with these abilities takes the option. Default: every model does. */
  needs?(abilities: Readonly<Abilities>): boolean;
  /** An option without which models do not take this one. */
  with?: string;
}

const schema: JsonObject = {
  type: "object",
  properties: { a: { type: "string" } },
  required: ["a"],
  additionalProperties: false,
};
const tools = [{ type: "function", function: { name: "f", parameters: schema } }];

const calls = ({ tools }: Abilities) => tools === true;
const forces = (abilities: Abilities) => calls(abilities) && abilities.forcedTools !== false;
const callsInParallel = (abilities: Abilities) => calls(abilities) && abilities.parallelTools !== false;
const followsSchemas = ({ jsonSchema }: Abilities) => jsonSchema === true;
const writesJson = ({ jsonSchema, jsonObject }: Abilities) => jsonObject ?? jsonSchema ?? false;
const reasons = ({ reasoning }: Abilities) => reasoning === true;
const samples = ({ sampling }: Abilities) => sampling !== false;

/** By the names in `supported_parameters`, which are members of a request, and `structured_outputs` for JSON schemas. */
export const OPTIONS: Readonly<Record<string, Option>> = {
  max_tokens: { members: { max_tokens: 100 } },
  temperature: { members: { temperature: 0.5 }, needs: samples },
  top_p: { members: { top_p: 0.5 }, needs: samples },
  top_k: { members: { top_k: 5 }, needs: samples },
  stop: { members: { stop: ["END"] } },
  seed: { members: { seed: 1 } },
  frequency_penalty: { members: { frequency_penalty: 0.5 }, needs: samples },
  presence_penalty: { members: { presence_penalty: 0.5 }, needs: samples },
  logit_bias: { members: { logit_bias: { "1": 1 } }, needs: samples },
  logprobs: { members: { logprobs: true }, needs: samples, with: "temperature" },
  top_logprobs: { members: { logprobs: true, top_logprobs: 2 }, needs: samples, with: "temperature" },
  tools: { members: { tools }, needs: calls },
  tool_choice: { members: { tools, tool_choice: "required" }, needs: forces },
  parallel_tool_calls: { members: { tools, parallel_tool_calls: false }, needs: callsInParallel },
  response_format: { members: { response_format: { type: "json_object" } }, needs: writesJson },
  structured_outputs: {
    members: { response_format: { type: "json_schema", json_schema: { name: "a", strict: true, schema } } },
    needs: followsSchemas,
  },
  reasoning: { members: { reasoning: { effort: "medium" } }, needs: reasons },
  reasoning_effort: { members: { reasoning_effort: "medium" }, needs: reasons },
  verbosity: { members: { verbosity: "low" } },
};

/** A whole request for each option. */
export const SAMPLES: Readonly<Record<string, JsonObject>> = Object.fromEntries(
  Object.entries(OPTIONS).map(([name, { members }]) => [
    name,
    { model: "m", messages: [{ role: "user", content: "Hi" }], ...members },
  ]),
);
