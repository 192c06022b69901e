/** Audio for tests. */

/** A wav of silence: 16 bits, one channel, 8 kHz. */
export function wavOf(seconds: number): Buffer<ArrayBuffer> {
  const rate = 8000;
  const data = Math.round(seconds * rate) * 2;
  const bytes = Buffer.alloc(44 + data);
  bytes.write("RIFF", 0);
  bytes.writeUInt32LE(36 + data, 4);
  bytes.write("WAVEfmt ", 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(rate, 24);
  bytes.writeUInt32LE(rate * 2, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write("data", 36);
  bytes.writeUInt32LE(data, 40);
  return bytes;
}
