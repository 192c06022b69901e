/** The capture of calls that the config asks for. */
import type { CaptureOptions, CaptureSettings } from "../capture/index.ts";
import { capturesAny } from "../capture/rules.ts";
import type { LivePart } from "../gateway/life.ts";
import { aroundTape } from "../gateway/tape.ts";

/** The part that captures; none if no call is captured. */
export async function callCaptures(
  settings: CaptureSettings,
  options: CaptureOptions,
): Promise<readonly LivePart[]> {
  if (!capturesAny(settings)) return [];
  const { Capture } = await import("../capture/index.ts");
  const run = aroundTape(new Capture(settings, options));
  return [{ name: "capture", seams: { around: { at: "capture", run } } }];
}
