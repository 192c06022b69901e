/** Blocks of network addresses in CIDR notation: `10.0.0.0/8`, `2001:db8::/32`, `192.0.2.7`. */
import { isIP } from "node:net";

export interface AddressBlock {
  /** 4 or 16 bytes. */
  readonly bytes: Uint8Array;
  /** Number of leading bits that an address shares with the block. */
  readonly bits: number;
}

/** @returns undefined if the text is no block, or sets bits that are not part of it */
export function parseBlock(text: string): AddressBlock | undefined {
  const [address = "", length, ...rest] = text.split("/");
  const bytes = parseAddress(address);
  if (!bytes || rest.length > 0) return undefined;
  const most = bytes.length * 8;
  if (length === undefined) return { bytes, bits: most };
  // An IPv4 address in IPv6 notation has become four bytes.
  const bits = Number(length) - (address.includes(":") && bytes.length === 4 ? 96 : 0);
  if (!/^\d{1,3}$/.test(length) || bits < 0 || bits > most) return undefined;
  for (let bit = bits; bit < most; bit++) if (bitAt(bytes, bit) !== 0) return undefined;
  return { bytes, bits };
}

/** Whether all addresses of `inner` lie in `outer`. */
export function blockContains(outer: AddressBlock, inner: AddressBlock): boolean {
  return outer.bits <= inner.bits && hasPrefix(inner.bytes, outer);
}

/** Whether an address lies in one of the blocks. */
export function isInBlocks(address: string, blocks: readonly AddressBlock[]): boolean {
  const bytes = parseAddress(address);
  return bytes !== undefined && blocks.some((block) => hasPrefix(bytes, block));
}

function hasPrefix(bytes: Uint8Array, { bytes: block, bits }: AddressBlock): boolean {
  if (bytes.length !== block.length) return false;
  for (let bit = 0; bit < bits; bit += 8) {
    const mask = bits - bit >= 8 ? 0xff : (0xff00 >> (bits - bit)) & 0xff;
    if ((bytes[bit / 8]! & mask) !== (block[bit / 8]! & mask)) return false;
  }
  return true;
}

function bitAt(bytes: Uint8Array, bit: number): number {
  return (bytes[bit >> 3]! >> (7 - (bit & 7))) & 1;
}

/** The bytes of an address. An IPv4 address in IPv6 notation (`::ffff:10.0.0.1`) has four. */
function parseAddress(text: string): Uint8Array | undefined {
  const version = isIP(text);
  if (version === 4) return Uint8Array.from(text.split("."), Number);
  if (version !== 6) return undefined;
  const bytes = parseIpv6(text.split("%")[0]!);
  const isMapped =
    bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff;
  return isMapped ? bytes.subarray(12) : bytes;
}

/** @param text a valid address without a zone */
function parseIpv6(text: string): Uint8Array {
  const dotted = /(?:\d+\.){3}\d+$/.exec(text)?.[0];
  const [a = 0, b = 0, c = 0, d = 0] = dotted?.split(".").map(Number) ?? [];
  const hex =
    dotted === undefined
      ? text
      : text.replace(dotted, `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`);
  const [before = "", after] = hex.split("::");
  const groups = (part: string) =>
    part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16));
  const [first, last] = [groups(before), groups(after ?? "")];
  const zeros = Array<number>(8 - first.length - last.length).fill(0);
  return Uint8Array.from([...first, ...zeros, ...last].flatMap((group) => [group >> 8, group & 0xff]));
}
