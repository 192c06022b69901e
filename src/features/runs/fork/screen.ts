/** Holds tools that weir runs for models to the rule of the fork. */
import type { ToolScreen } from "../../../core/tool-screen.ts";
import type { Rule } from "../flags.ts";
import { refusedResult } from "./refusals.ts";

/** @param inner what looks at the tools besides */
export function screenFor(rule: Rule, inner: ToolScreen | undefined): ToolScreen {
  return {
    heldBack: (tool) => inner?.heldBack(tool),
    arguments: (tool, given) => inner?.arguments(tool, given) ?? given,
    noteFor: (work) => inner?.noteFor(work),
    result: (tool, given) => inner?.result(tool, given) ?? given,
    instead(tool, annotations) {
      const may = rule === "live" || (rule === "readonly" && annotations["readOnlyHint"] === true);
      return may ? undefined : refusedResult(rule, tool);
    },
  };
}
