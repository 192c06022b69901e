import type { CodecContext } from "../../../core/context.ts";

/** What fitting a request depends on besides the request. */
export type FitContext = Pick<CodecContext, "model" | "sameFormat" | "target" | "reportLoss">;
