/** The kinds of texts that a guard looks at, as its option names them. */
import type { TextKind } from "../../../core/text-places.ts";
import type { Kind } from "../declarations.ts";

const KINDS_OF: Readonly<Record<Kind, readonly TextKind[]>> = {
  text: ["text", "system", "other"],
  reasoning: ["reasoning"],
  tools: ["tool-arguments", "tool-result"],
  declarations: ["declaration"],
  documents: ["document"],
  names: ["name"],
};

/** Declarations of tools have examples. Media are no texts. */
const USUAL: readonly Kind[] = ["text", "reasoning", "tools", "documents", "names"];

export function kindsOf(kinds: readonly Kind[] = USUAL): ReadonlySet<TextKind> {
  return new Set(kinds.flatMap((kind) => KINDS_OF[kind]));
}
