/** The header by which clients ask for the cache, and in which they see whether it answered. */
import type { CallHeader } from "../../core/call-header.ts";

export const cacheHeader: CallHeader = {
  name: "x-weir-cache",
  request: {
    description:
      "`use`: weir may answer from its response cache, if the config permits it for the key. `refresh`: a provider answers, and the cache keeps that. `no`: the cache is left alone.",
    values: ["use", "refresh", "no"],
  },
  answer: "Of a call that may use the cache of answers: `hit`, `miss`, `refresh`, or `bypass` with a reason.",
};
