/**
 * Captures bodies of calls for the operator: the request and the answer as the client sent and got them, masked. It records calls
 * as a tape does, and sends them to the keeper, which writes them to capture.db.
 */
import type { Call } from "../../core/call.ts";
import type { Captured } from "./captured.ts";
import type { WorkerHost } from "../../gateway/seams.ts";
import type { CallTape, TapedCall } from "../../gateway/tape.ts";
import type { Opened } from "../../gateway/lanes/lane.ts";
import { createMask } from "../../gateway/recording/mask.ts";
import type { TapeEntry } from "../../gateway/recording/entry.ts";
import { shortened } from "../../gateway/recording/meaning.ts";
import { Recorder } from "../../gateway/recording/recorder.ts";
import { captureHeader } from "./headers.ts";
import { wireTap } from "../../gateway/lanes/wire.ts";
import { Wire } from "../../gateway/recording/wire.ts";
import type { CaptureOutbox } from "./outbox.ts";
import { wireOf } from "./wire.ts";
import type { CaptureRules } from "./rules.ts";

export interface CaptureSettings extends CaptureRules {
  errorsOnly: boolean;
  mask: readonly string[];
  /** Of a request and of an answer. */
  bytes: number;
  days: number;
  fileBytes: number;
}

interface CaptureOptions extends Pick<WorkerHost, "hide" | "fault"> {
  outbox: CaptureOutbox;
}

const DAY_MS = 86_400_000;
/** Longer headers are cut. Characters. */
const MOST_HEADER = 1_000;
/** Bytes that are recorded beyond the part that is kept, so that a credential at the cut is whole and masked. Bytes. */
const MARGIN = 4_096;

export class Capture implements CallTape {
  readonly #settings: CaptureSettings;
  readonly #recorder: Recorder;
  readonly #outbox: CaptureOutbox;
  readonly #mask: (text: string) => string;
  /** Calls that an operator asked for. */
  readonly #wanted = new WeakSet<Call>();

  constructor(settings: CaptureSettings, { hide, fault, outbox }: CaptureOptions) {
    this.#settings = settings;
    this.#outbox = outbox;
    this.#mask = createMask(
      hide,
      settings.mask.map((pattern) => new RegExp(pattern, "g")),
    );
    this.#recorder = new Recorder({
      write: (entry, taped) => this.#write(entry, taped),
      mask: this.#mask,
      onLost: fault,
      most: settings.bytes + MARGIN,
      keepsCancelled: true,
    });
  }

  take(taped: TapedCall, open: () => Promise<Opened>): Promise<Opened> {
    wireTap.set(taped.call, new Wire(this.#settings.bytes + MARGIN));
    return this.#recorder.take(taped, open);
  }

  /** The call is kept as a whole: an operator asked for it. */
  want(call: Call): void {
    this.#wanted.add(call);
  }

  #write(entry: TapeEntry, taped: TapedCall): void {
    const { call, body } = taped;
    const { error, operation, format, status, headers } = entry;
    if (this.#settings.errorsOnly && !error && !this.#wanted.has(call)) return;
    const at = Date.now();
    const written = JSON.stringify(body);
    const short = shortened(written);
    const request = this.#mask(short);
    const answer = entry.answer.join("");
    const replaced: Captured["replaced"] = [
      ...(short !== written ? (["data"] as const) : []),
      ...(request !== short ? (["secrets"] as const) : []),
    ];
    const asked = this.#askedBy(taped);
    const wire = wireOf({ taped, written, answer, mask: this.#mask, bytes: this.#settings.bytes });
    const cut: Captured["cut"] = [
      ...(request.length > this.#settings.bytes ? (["request"] as const) : []),
      ...(answer.length > this.#settings.bytes ? (["answer"] as const) : []),
    ];
    const captured: Captured = {
      ...{ id: call.id, at, expiresAt: at + this.#settings.days * DAY_MS },
      ...{ operation, format, status, headers },
      request: request.slice(0, this.#settings.bytes),
      answer: answer.slice(0, this.#settings.bytes),
      ...(cut.length > 0 && { cut }),
      ...(replaced.length > 0 && { replaced }),
      ...(asked && { asked }),
      ...(wire && { wire }),
      ...(error && { error: error.message }),
    };
    this.#outbox.add(captured, this.#settings.fileBytes);
  }

  /** The headers that the client's format forwards, and those for weir itself. */
  #askedBy({ call, formats }: TapedCall): Captured["asked"] {
    const { requestHeaders = [] } = formats.get(call.format)?.upstream?.address ?? {};
    const asked: Record<string, string> = {};
    for (const [name, value] of call.headers)
      if ((requestHeaders.includes(name) && !name.endsWith("-id")) || isForWeir(name))
        asked[name] = this.#mask(value).slice(0, MOST_HEADER);
    return Object.keys(asked).length > 0 ? asked : undefined;
  }
}

const isForWeir = (name: string) => name.startsWith("x-weir-") && name !== captureHeader.name;
