/** The header that says on whose behalf a call is. */
import type { CallHeader } from "../../core/call-header.ts";

export const personHeader: CallHeader = {
  name: "x-weir-person",
  request: {
    description:
      "The person on whose behalf the call is, by the id (`per_…`) or a verified address; for keys with `act`. Budgets and limits on the person's path count it.",
    values: ["per_0123456789abcdef0123456789abcdef", "alice@corp.example"],
    with: ["generate", "compact", "embeddings"],
  },
  answer: "The id of the person on whose behalf the call was, or `ignored`, because the key has no `act`.",
};
