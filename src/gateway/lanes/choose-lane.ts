/** Chooses the lane of an attempt. */
import type { Attempt } from "../../core/call.ts";
import { inOpenFormat } from "../routing/spoken-formats.ts";
import type { Incoming } from "../types.ts";
import { needsCompaction } from "../compaction.ts";
import { editsCalls } from "../plugins/edits-calls.ts";
import type { Lane, PrepareContext } from "./lane.ts";
import { NativeLane } from "./native.ts";
import { TranslatedLane } from "./translated.ts";

/** The native lane for a provider of the client's format, unless a plugin edits requests or answers or the host lacks a part of the format. */
export function chooseLane(incoming: Incoming, attempt: Attempt, context: PrepareContext): Lane {
  const { target } = attempt;
  if (target.substitute) attempt.reportLoss("substituted", "model", target.reason);
  const isEdited = incoming.call.edits || context.hooks.some(editsCalls);
  const isNative = target.lane === "native" && !isEdited && !mustTranslate(incoming, attempt, context);
  if (isNative) return new NativeLane(incoming, attempt, context);
  const other = target.lane === "native" ? inOpenFormat(target) : undefined;
  if (other) attempt.turnTo(other);
  else if (target.lane === "native") attempt.lane = "translated";
  return new TranslatedLane(incoming, attempt, context);
}

function mustTranslate(
  incoming: Incoming,
  { target, context }: Attempt,
  { registry }: PrepareContext,
): boolean {
  if (!context.target.traits.compacts && needsCompaction(incoming)) return true;
  const codec = registry.formats.get(target.format)?.upstream;
  return codec?.native.mustTranslate?.(context.target, () => incoming.body) === true;
}
