/** The header with which a client asks to be captured, or forbids it. */
import type { CallHeader } from "../../core/call-header.ts";

export const captureHeader: CallHeader = {
  name: "x-weir-capture",
  request: {
    description:
      "`no`: weir never keeps the bodies of the call. `yes`: the operator may look at them, if the config permits it.",
    values: ["yes", "no"],
    with: ["generate", "compact", "embeddings"],
  },
};
