/** The entries of one batch, written as bytes when they are made. */
import { openRegion, REGION_HEADER, setUsed } from "../cells.ts";

/** Bytes of UTF-8 of one UTF-16 code unit, at most. */
const MAX_UNIT_BYTES = 3;
const COMMA = 0x2c;

const utf8 = new TextEncoder();

export class Entries {
  /** Memory that the keeper can read after this process has died; absent while all of it is in use. */
  readonly region: Buffer | undefined;
  /** Records among the entries. */
  records = 0;
  #end = REGION_HEADER;
  /** Entries for which the region has no room. */
  #more: string[] = [];

  /** @param seq number of the batch */
  constructor(seq: number, region: Buffer | undefined) {
    this.region = region;
    if (region) openRegion(region, seq);
  }

  get isEmpty(): boolean {
    return this.#end === REGION_HEADER && this.#more.length === 0;
  }

  /** The last entry was too long for the rest of the region. */
  get isFull(): boolean {
    return this.region !== undefined && this.#more.length > 0;
  }

  /** @param text JSON */
  add(text: string): void {
    const { region } = this;
    const end = this.#end;
    if (!region || this.#more.length > 0 || region.length - end <= text.length * MAX_UNIT_BYTES) {
      this.#more.push(text);
      return;
    }
    let at = end;
    if (end > REGION_HEADER) region[at++] = COMMA;
    at += region.write(text, at, "utf8");
    this.#end = at;
    setUsed(region, at);
  }

  /** A copy of the entries, with commas between them, in memory of its own: other threads get whole buffers. */
  copy(): Uint8Array {
    const written = this.region?.subarray(REGION_HEADER, this.#end);
    if (this.#more.length === 0) return new Uint8Array(written ?? []);
    const start = written && written.length > 0 ? `${written.toString("utf8")},` : "";
    return utf8.encode(start + this.#more.join(","));
  }
}
