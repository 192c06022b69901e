/** Recorders of the calls of a gateway, or their substitutes: a tape, and the capture that the config asks for. */
import type { CaptureOptions, CaptureSettings } from "../capture/index.ts";
import { capturesAny } from "../capture/rules.ts";
import type { Config } from "../config/schema.ts";
import { bothTapes } from "../gateway/both-tapes.ts";
import type { CallTape, TapeTools } from "../gateway/tape.ts";

/** @returns makes the tapes for a config; the capture changes with a reload, the tape does not */
export function callTapes(
  config: Config,
  options: CaptureOptions,
  makeTape: ((tools: TapeTools) => CallTape) | undefined,
): (settings: CaptureSettings) => Promise<CallTape | undefined> {
  const tape = makeTape?.({ ...options, ...patternsOf(config.tape) });
  return async (settings) => {
    if (tape?.isAlone || !capturesAny(settings)) return tape;
    const { Capture } = await import("../capture/index.ts");
    return bothTapes(tape, new Capture(settings, options));
  };
}

function patternsOf({ mask, ignore }: Config["tape"]): Pick<TapeTools, "mask" | "ignore"> {
  const compile = (patterns: readonly string[]) => patterns.map((pattern) => new RegExp(pattern, "g"));
  return { mask: compile(mask), ignore: compile(ignore) };
}
