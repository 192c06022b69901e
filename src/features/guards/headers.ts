/** The headers of calls that guards look at. */
import type { CallHeader } from "../../core/call-header.ts";

export const guardHeaders: readonly CallHeader[] = [
  {
    name: "x-weir-guards",
    answer:
      "The guards of the call with their verdicts, and the number of values that each found: `pii=replaced:3, secrets=passed`. `uninspected=media:2`: content that weir cannot read. Of a stream: what is known when it begins, `pending` where that is nothing; a comment at its end has the rest.",
  },
  {
    name: "x-weir-guards-add",
    request: {
      description:
        "Names of guards, separated by commas, that look at the call besides those that do so anyway. A request can turn none off: `x-weir-guards-remove` has no effect, and the answer says so.",
      with: ["generate", "compact", "embeddings"],
    },
  },
];
