/** Writes the events of a stream as frames. */
import type { Frame } from "../../../core/frame.ts";
import type { JsonObject } from "../../../core/json.ts";

/** Numbers the events 0, 1, 2 … */
export class FrameWriter {
  #frames: Frame[] = [];
  #sequence = 0;

  /** Whether an event has been written. */
  get hasBegun(): boolean {
    return this.#sequence > 0;
  }

  add(type: string, members: JsonObject): void {
    this.#frames.push({
      event: type,
      data: JSON.stringify({ type, sequence_number: this.#sequence++, ...members }),
    });
  }

  /** The frames since the last call. */
  take(): Frame[] {
    const frames = this.#frames;
    this.#frames = [];
    return frames;
  }
}
