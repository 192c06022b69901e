/** What the guards of one call share. */
import type { Call } from "../../../core/call.ts";
import type { Edited, Entry } from "../../../gateway/seams.ts";
import type { AskedTool, CallFacts } from "../ask/asker.ts";
import type { Guard } from "../guard.ts";
import type { CallMap } from "../replace/call-map.ts";
import type { Verdicts } from "../verdicts.ts";

/** What the guards of a call share. */
export interface Passing {
  readonly guards: readonly Guard[];
  readonly map: CallMap;
  readonly verdicts: Verdicts;
  /** What weir cannot read is refused. */
  readonly refusesUnread: boolean;
  /** Verdicts that are awaited while the provider works. */
  readonly beside: Promise<void>[];
  /** Of a request that is explained: services are not asked. */
  readonly asksNothing?: boolean;
  readonly call: Call;
  /** The models of the config that serves the call. Absent: a client of /mcp calls a tool, and no model answers. */
  readonly registry?: Entry["registry"];
  /** What services that guards ask may know of the call. */
  readonly facts: CallFacts;
  /** The tools that the request declares. @param edited the request as it is now */
  tools(edited: Edited | undefined): readonly AskedTool[];
}
