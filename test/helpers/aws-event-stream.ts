/** Writes messages of `application/vnd.amazon.eventstream`. */

/** @param headers headers with text values @param more bytes of further headers */
export function awsMessage(headers: Record<string, string>, payload: string, more = Buffer.alloc(0)): Buffer {
  const written = Buffer.concat([
    more,
    ...Object.entries(headers).flatMap(([name, value]) => {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(Buffer.byteLength(value));
      return [Buffer.from([name.length]), Buffer.from(name), Buffer.from([7]), length, Buffer.from(value)];
    }),
  ]);
  const body = Buffer.from(payload);
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(16 + written.length + body.length, 0);
  prelude.writeUInt32BE(written.length, 4);
  prelude.writeUInt32BE(Bun.hash.crc32(prelude.subarray(0, 8)), 8);
  const message = Buffer.concat([prelude, written, body]);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(Bun.hash.crc32(message));
  return Buffer.concat([message, checksum]);
}
