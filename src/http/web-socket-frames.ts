/** Frames of a WebSocket as a client writes and reads them (RFC 6455, section 5). */
import { isUtf8 } from "node:buffer";

const CONTINUATION = 0;
export const TEXT = 1;
const BINARY = 2;
export const CLOSE = 8;
export const PING = 9;
export const PONG = 10;

const FIN = 0x80;
const MASKED = 0x80;
/** Longest control frame. Bytes. */
const CONTROL_BYTES = 125;

/** The host breaks the protocol. */
export class ProtocolFault extends Error {
  /** @param code of the close frame */
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

/** One masked frame. */
export function encodeFrame(opcode: number, payload: Uint8Array): Buffer {
  const { length } = payload;
  const extra = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const frame = Buffer.allocUnsafe(2 + extra + 4 + length);
  frame[0] = FIN | opcode;
  frame[1] = MASKED | (extra === 0 ? length : extra === 2 ? 126 : 127);
  if (extra === 2) frame.writeUInt16BE(length, 2);
  if (extra === 8) frame.writeBigUInt64BE(BigInt(length), 2);
  const mask = crypto.getRandomValues(new Uint8Array(4));
  frame.set(mask, 2 + extra);
  const from = 6 + extra;
  for (let at = 0; at < length; at++) frame[from + at] = payload[at]! ^ mask[at & 3]!;
  return frame;
}

export function closeFrame(code: number, reason: string): Buffer {
  const text = Buffer.from(reason).subarray(0, CONTROL_BYTES - 2);
  const payload = Buffer.alloc(2 + text.length);
  payload.writeUInt16BE(code, 0);
  payload.set(text, 2);
  return encodeFrame(CLOSE, payload);
}

export interface Message {
  opcode: number;
  payload: Buffer;
}

/** Cuts bytes into messages. */
export class FrameReader {
  readonly #most: number;
  #chunks: Buffer[] = [];
  #have = 0;
  /** Bytes without which nothing more can be read. */
  #need = 2;
  /** Of a message in several frames. */
  #parts: Buffer[] = [];
  #opcode = 0;
  #length = 0;

  /** @param most bytes of a message */
  constructor(most: number) {
    this.#most = most;
  }

  get hasMore(): boolean {
    return this.#have >= this.#need;
  }

  add(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#chunks.push(bytes);
    this.#have += bytes.length;
  }

  /** @returns undefined: more bytes are needed @throws ProtocolFault */
  next(): Message | undefined {
    for (;;) {
      const frame = this.#frame();
      if (!frame) return undefined;
      const { opcode, isLast, payload } = frame;
      if (opcode >= CLOSE) return { opcode, payload };
      if (opcode !== CONTINUATION) this.#opcode = opcode;
      this.#parts.push(payload);
      this.#length += payload.length;
      if (!isLast) continue;
      const whole = this.#parts.length === 1 ? payload : Buffer.concat(this.#parts);
      this.#parts = [];
      this.#length = 0;
      if (this.#opcode === TEXT && !isUtf8(whole)) throw new ProtocolFault(1007, "a text is no UTF-8");
      return { opcode: this.#opcode, payload: whole };
    }
  }

  #frame(): { opcode: number; isLast: boolean; payload: Buffer } | undefined {
    if (this.#have < this.#need) return undefined;
    const bytes = this.#joined();
    const [first, second] = [bytes[0]!, bytes[1]!];
    const opcode = first & 0x0f;
    const isLast = (first & FIN) !== 0;
    const short = second & 0x7f;
    this.#check(first, second, opcode, isLast, short);
    const header = short === 126 ? 4 : short === 127 ? 10 : 2;
    if (bytes.length < header) return this.#wait(header);
    const length =
      short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short;
    if (this.#length + length > this.#most) throw new ProtocolFault(1009, "a message is too long");
    if (bytes.length < header + length) return this.#wait(header + length);
    const rest = bytes.subarray(header + length);
    this.#chunks = rest.length > 0 ? [rest] : [];
    this.#have = rest.length;
    this.#need = 2;
    return { opcode, isLast, payload: bytes.subarray(header, header + length) };
  }

  #check(first: number, second: number, opcode: number, isLast: boolean, short: number): void {
    const isControl = opcode >= CLOSE;
    const isKnown = opcode <= BINARY || (isControl && opcode <= PONG);
    if ((first & 0x70) !== 0 || (second & MASKED) !== 0 || !isKnown)
      throw new ProtocolFault(1002, "a frame is not as it must be");
    if (isControl && (!isLast || short > CONTROL_BYTES))
      throw new ProtocolFault(1002, "a control frame is too long");
    if (!isControl && (opcode === CONTINUATION) !== this.#parts.length > 0)
      throw new ProtocolFault(1002, "a message is not continued as it must be");
  }

  #wait(need: number): undefined {
    this.#need = need;
    return undefined;
  }

  #joined(): Buffer {
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0]!;
  }
}
