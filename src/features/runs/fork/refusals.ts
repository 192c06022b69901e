/** What a fork answers in place of a tool that its rule does not let run. */
import type { JsonObject } from "../../../core/json.ts";
import type { Rule } from "../flags.ts";

const REASONS: Readonly<Record<Rule, string>> = {
  tape: "the fork takes tools from the tape alone (--tools tape), and the tape has no such call",
  readonly:
    "the fork runs only tools that their server marks readOnlyHint (--tools readonly), and this one is not; --tools live runs it",
  live: "",
};

/** @returns a `CallToolResult` */
export function refusedResult(rule: Rule, tool: string): JsonObject {
  return { content: [{ type: "text", text: `${tool} did not run: ${REASONS[rule]}.` }], isError: true };
}

/** @returns a sentence without its end */
export const refusal = (rule: Rule, tool: string) => `${tool} did not run: ${REASONS[rule]}`;
