/** What encoding a request depends on besides the request, in every format. */
import type { CodecContext, CodecTarget } from "../../core/context.ts";

export interface EncodeContext
  extends
    Pick<CodecContext, "model" | "sameFormat" | "reportLoss">,
    Pick<CodecTarget, "provider" | "traits"> {}

export function encodeContextOf(context: CodecContext): EncodeContext {
  const { model, sameFormat, target } = context;
  return {
    model,
    sameFormat,
    provider: target.provider,
    traits: target.traits,
    reportLoss: (code, path, note) => context.reportLoss(code, path, note),
  };
}
