/** Writes the events of a stream as frames. */
import type { Frame } from "../../../core/frame.ts";
import type { JsonObject } from "../../../core/json.ts";

/** Numbers the events, usually 0, 1, 2 … */
export class FrameWriter {
  #frames: Frame[] = [];
  #sequence: number;

  /** @param first number of the first event */
  constructor(first = 0) {
    this.#sequence = first;
  }

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
