/** Writes messages of `application/vnd.amazon.eventstream`. */
import type { Frame } from "../../src/core/frame.ts";

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

/**
 * A stream of these frames. The frame `exception` with the data `{"type", "message"}` becomes an exception, and `error` an error
 * without a payload.
 */
export function awsStream(frames: readonly Frame[]): Buffer {
  return Buffer.concat(frames.map(messageOf));
}

function messageOf({ event = "", data }: Frame): Buffer {
  const json = { ":content-type": "application/json" };
  if (event !== "exception" && event !== "error")
    return awsMessage({ ":event-type": event, ...json, ":message-type": "event" }, data);
  const { type, message } = JSON.parse(data) as { type: string; message: string };
  if (event === "error")
    return awsMessage({ ":error-code": type, ":error-message": message, ":message-type": "error" }, "");
  return awsMessage(
    { ":exception-type": type, ...json, ":message-type": "exception" },
    JSON.stringify({ message }),
  );
}
