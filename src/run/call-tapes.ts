/** Recorders of the calls of a gateway, or their substitutes: a tape, and the capture that the config asks for. */
import type { CaptureOptions, CaptureSettings } from "../capture/index.ts";
import { capturesAny } from "../capture/rules.ts";
import type { Config } from "../config/schema.ts";
import type { LivePart } from "../gateway/life.ts";
import { aroundTape, type CallTape, type TapeTools } from "../gateway/tape.ts";

/** @returns makes the tapes for a config; the capture changes with a reload, the tape does not */
export function callTapes(
  config: Config,
  options: CaptureOptions,
  makeTape: ((tools: TapeTools) => CallTape) | undefined,
): (settings: CaptureSettings) => Promise<readonly LivePart[]> {
  const tape = makeTape?.({ ...options, ...patternsOf(config.tape) });
  const taped: LivePart[] = tape
    ? [{ name: "tape", seams: { around: { at: "tape", run: aroundTape(tape) } } }]
    : [];
  return async (settings) => {
    if (!capturesAny(settings)) return taped;
    const { Capture } = await import("../capture/index.ts");
    const run = aroundTape(new Capture(settings, options));
    return [...taped, { name: "capture", seams: { around: { at: "capture", run } } }];
  };
}

function patternsOf({ mask, ignore }: Config["tape"]): Pick<TapeTools, "mask" | "ignore"> {
  const compile = (patterns: readonly string[]) => patterns.map((pattern) => new RegExp(pattern, "g"));
  return { mask: compile(mask), ignore: compile(ignore) };
}
