/** The parts of DER (X.690) that a certificate needs. Each function returns the bytes of one whole element. */

type Bytes = Uint8Array;

/** One element. @param tag the byte in front of the length */
export function element(tag: number, ...parts: readonly Bytes[]): Bytes {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.of(tag, ...lengthOf(content.length)), content]);
}

export function sequence(...parts: readonly Bytes[]): Bytes {
  return element(0x30, ...parts);
}

export function set(...parts: readonly Bytes[]): Bytes {
  return element(0x31, ...parts);
}

/** A number that is not negative. @param bytes big-endian; zeros in front are dropped */
export function integer(bytes: Bytes): Bytes {
  const first = bytes.findIndex((byte) => byte !== 0);
  const digits = first < 0 ? Buffer.of(0) : bytes.subarray(first);
  // A first bit that is set would make the number negative.
  return digits[0]! >= 0x80 ? element(0x02, Buffer.of(0), digits) : element(0x02, digits);
}

/** @param dotted `2.5.4.3` */
export function identifier(dotted: string): Bytes {
  const [first = 0, second = 0, ...others] = dotted.split(".").map(Number);
  return element(0x06, Buffer.from([40 * first + second, ...others].flatMap(base128)));
}

export function boolean(value: boolean): Bytes {
  return element(0x01, Buffer.of(value ? 0xff : 0));
}

export function text(value: string): Bytes {
  return element(0x0c, Buffer.from(value));
}

export function octets(content: Bytes): Bytes {
  return element(0x04, content);
}

/** @param unused bits at the end that do not count, 0 to 7 */
export function bits(content: Bytes, unused = 0): Bytes {
  return element(0x03, Buffer.of(unused), content);
}

/** An instant to the second. RFC 5280 4.1.2.5 wants the form with two digits of the year before 2050. */
export function instant(at: Date): Bytes {
  const digits = at.toISOString().replace(/\.\d+|[-:T]/g, "");
  return at.getUTCFullYear() < 2050
    ? element(0x17, Buffer.from(digits.slice(2)))
    : element(0x18, Buffer.from(digits));
}

function lengthOf(length: number): number[] {
  if (length < 0x80) return [length];
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return [0x80 + bytes.length, ...bytes];
}

/** Seven bits a byte; all but the last one have the first bit set. */
function base128(value: number): number[] {
  const bytes = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128))
    bytes.unshift((rest % 128) + 128);
  return bytes;
}
