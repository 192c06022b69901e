/** Context of encoding a request, in every format. */
import type { CodecContext, CodecTarget } from "../../core/context.ts";

export interface EncodeContext
  extends
    Pick<CodecContext, "model" | "sameFormat" | "reportLoss">,
    Pick<CodecTarget, "provider" | "traits" | "fitsNative"> {}

/** The parts of {@link CodecContext} that an encode context is made of. */
type Source = Pick<CodecContext, "model" | "sameFormat" | "target" | "reportLoss">;

export function encodeContextOf(context: Source): EncodeContext {
  const { model, sameFormat, target } = context;
  return {
    model,
    sameFormat,
    provider: target.provider,
    traits: target.traits,
    fitsNative: target.fitsNative,
    reportLoss: (code, path, note) => context.reportLoss(code, path, note),
  };
}
