/** Strict tools for Claude models (src/formats/README.md#tools). */
import type { Tool } from "../../core/chat.ts";
import type { JsonObject } from "../../core/json.ts";
import type { ClaudeContext } from "./claude-reasoning.ts";
import { sanitiseSchema } from "./claude-schema.ts";
import { toolPath } from "./paths.ts";

/** Anthropic's limits over all strict schemas of a request. */
const STRICT_LIMITS = { tools: 20, optional: 24, unions: 16 };

/** Limits the number and size of strict schemas. */
export class StrictBudget {
  readonly #context: ClaudeContext;
  #tools = 0;
  #optional = 0;
  #unions = 0;

  constructor(context: ClaudeContext) {
    this.#context = context;
  }

  /** Returns the schema in the form that Anthropic enforces; `undefined` if it exceeds the limits. */
  admit(schema: JsonObject, tool: Tool): JsonObject | undefined {
    const { facts, reportLoss } = this.#context;
    const clean = sanitiseSchema(schema);
    const fits =
      facts.schemas &&
      !clean.recursive &&
      this.#tools + 1 <= STRICT_LIMITS.tools &&
      this.#optional + clean.optional <= STRICT_LIMITS.optional &&
      this.#unions + clean.unions <= STRICT_LIMITS.unions;
    if (!fits) {
      reportLoss("dropped", toolPath(tool, "strict"), "the schema is not enforced");
      return undefined;
    }
    this.#tools++;
    this.#optional += clean.optional;
    this.#unions += clean.unions;
    if (clean.changed)
      reportLoss("converted", toolPath(tool, "parameters"), "constraints are described, not enforced");
    return clean.schema;
  }
}
