/** Headers that tell the client what became of its request. */
import type { Call } from "../core/call.ts";
import { writeLosses } from "../core/loss.ts";

/** `x-weir-*` headers of an answer, known before its first byte. */
export function answerHeaders(call: Call): Record<string, string> {
  const target = call.target;
  return {
    ...(target && {
      "x-weir-provider": target.provider.name,
      "x-weir-model": printable(target.model),
      "x-weir-lane": target.lane,
    }),
    ...(call.losses.length > 0 && { "x-weir-warnings": writeLosses(call.losses) }),
  };
}

/** Header values hold visible ASCII only; a model name may hold anything. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?");
}
