/** Records what weir sent on for a call, and what the provider answered: those of the last attempt. */
import type { WireTap } from "../lanes/wire.ts";
import type { Prepared } from "../lanes/lane.ts";
import type { UpstreamResponse } from "../lanes/transport.ts";

/** Texts are as they were: who keeps them masks them. */
export interface SeenWire {
  url: string;
  request: string;
  /** Id of the provider's format. */
  format: string;
  /** Absent: no answer came. */
  status?: number;
  type?: string;
  answer: string;
}

export class Wire implements WireTap {
  readonly #most: number;
  readonly #decoder = new TextDecoder();
  #seen: SeenWire | undefined;
  #parts: string[] = [];
  #length = 0;

  /** @param most how much of an answer is recorded. Characters. */
  constructor(most: number) {
    this.#most = most;
  }

  sent({ url, body, target }: Prepared): void {
    this.#parts = [];
    this.#length = 0;
    this.#seen = { url, request: Buffer.concat(body).toString(), format: target.format, answer: "" };
  }

  head({ status, headers }: Pick<UpstreamResponse, "status" | "headers">): void {
    if (this.#seen) Object.assign(this.#seen, { status, type: headers.get("content-type") ?? "" });
  }

  piece(bytes: Uint8Array): void {
    if (this.#length > this.#most) return;
    const text = this.#decoder.decode(bytes, { stream: true });
    this.#parts.push(text);
    this.#length += text.length;
  }

  /** @returns undefined if nothing was sent: a program answered, or weir itself */
  get seen(): SeenWire | undefined {
    return this.#seen && { ...this.#seen, answer: this.#parts.join("") };
  }
}
