/** The plan of a request whose format is one of conversations, or of a kind. */
import { GatewayError } from "../../core/error.ts";
import { planFor } from "../access.ts";
import type { Plan } from "../routing/plan.ts";
import type { Registry } from "../routing/registry.ts";
import type { Incoming } from "../types.ts";

/** @throws GatewayError as `planFor` */
export function planIncoming(
  { call, format, bytes, spanOf }: Pick<Incoming, "call" | "format" | "bytes" | "spanOf">,
  model: string,
  registry: Registry,
): Plan {
  const { id, kind, kindMember } = format;
  const span = kindMember === undefined ? undefined : spanOf(kindMember);
  if (!span || !isText(bytes, span)) return planFor(call, model, registry, id, kind);
  try {
    return planFor(call, model, registry, id, "completion");
  } catch (thrown) {
    // A model for conversations says by its codec what it cannot do.
    if (thrown instanceof GatewayError && thrown.kind === "not-found")
      return planFor(call, model, registry, id, kind);
    throw thrown;
  }
}

const QUOTE = 0x22;

/** A JSON string that is not empty. */
function isText(bytes: Uint8Array, { start, end }: { start: number; end: number }): boolean {
  return bytes[start] === QUOTE && end - start > 2;
}
