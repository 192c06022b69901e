/** The part of a gateway that captures calls. Its code is loaded when a config first captures some. */
import type { WorkerHost, WorkerPart } from "../../gateway/seams.ts";
import { aroundTape } from "../../gateway/tape.ts";
import type { CapturedBatch } from "./captured.ts";
import type { CaptureOutbox } from "./outbox.ts";
import { capturesAny, captureSection } from "./section.ts";

export function start({ hide, fault, channel }: WorkerHost): WorkerPart {
  // What waits for the keeper survives a reload.
  let outbox: CaptureOutbox | undefined;
  return {
    async seams(config) {
      const settings = captureSection.of(config);
      if (!capturesAny(settings)) return undefined;
      const [{ Capture }, { CaptureOutbox }] = await Promise.all([
        import("./recording.ts"),
        import("./outbox.ts"),
      ]);
      outbox ??= new CaptureOutbox(channel<CapturedBatch, never>(), fault);
      const run = aroundTape(new Capture(settings, { hide, fault, outbox }));
      return { around: { at: "capture", run } };
    },
  };
}
