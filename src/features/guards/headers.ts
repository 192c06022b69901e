/** The header of answers that guards looked at. */
import type { CallHeader } from "../../core/call-header.ts";

export const guardsHeader: CallHeader = {
  name: "x-weir-guards",
  answer:
    "The guards of the call with their verdicts, and the number of values that each found: `pii=replaced:3, secrets=passed`. `uninspected=media:2`: content that weir cannot read. Of a stream: what is known when it begins, `pending` where that is nothing; a comment at its end has the rest.",
};
