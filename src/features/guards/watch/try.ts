/** What guards make of a text that an operator tries. Services are not asked, and nothing of the text is kept or logged. */
import type { Guard } from "../guard.ts";
import { CallMap } from "../replace/call-map.ts";
import { edited } from "../replace/edits.ts";

export interface TriedGuard {
  readonly guard: string;
  readonly does: string;
  /** It also asks a service, which was not asked. */
  readonly asks: boolean;
  /** Positions are UTF-16 units of the text as this guard got it; `end` is exclusive. */
  readonly findings: readonly { kind: string; rule?: string; start: number; end: number }[];
}

export interface Tried {
  readonly guards: readonly TriedGuard[];
  /** As it would go on; absent: a guard blocks it. */
  readonly text?: string;
}

/** Each guard sees what the one before made, as in a call. @param secret of the caller whose tokens are shown */
export function tryText(given: string, guards: readonly Guard[], secret: Uint8Array): Tried {
  const map = new CallMap(secret);
  const tried: TriedGuard[] = [];
  let text = given;
  for (const guard of guards) {
    const found = guard.find(text);
    tried.push({
      ...{ guard: guard.name, does: guard.action, asks: guard.asked !== undefined },
      findings: found.map(({ kind, rule, start, end }) => ({
        ...{ kind, start, end },
        ...(rule !== undefined && { rule }),
      })),
    });
    if (found.length === 0) continue;
    if (guard.action === "block") return { guards: tried };
    if (guard.action !== "replace" && guard.action !== "mask") continue;
    const written = found.map((one) => ({ ...one, written: text.slice(one.start, one.end) }));
    if (guard.action === "replace") map.add(written);
    text = edited(
      text,
      written.map(({ start, end, kind, written: value }) => ({
        ...{ start, end },
        text: guard.action === "mask" ? `[${kind}]` : map.tokens.get(value)!,
      })),
    );
  }
  return { guards: tried, text };
}
