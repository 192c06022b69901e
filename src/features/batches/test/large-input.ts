/** Reads a large input in a process of its own, and writes what it took as JSON. The argument is `lines` or `requests`. */
import { readFileSync } from "node:fs";
import { checkInput } from "../lines/check-input.ts";
import { fromRequests } from "../lines/requests.ts";
import { repeated } from "./chunks.ts";

const CHUNK = 64 * 1024;

/** Megabytes that the process had in memory at most. */
function peak(): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) / 1024;
}

/** The items behind each other in chunks, as a socket or a file has them. */
async function* inChunks(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let open: Uint8Array[] = [];
  let size = 0;
  for await (const part of parts) {
    open.push(part);
    size += part.length;
    if (size < CHUNK) continue;
    const all = Buffer.concat(open);
    for (let at = 0; at < all.length; at += CHUNK) yield all.subarray(at, at + CHUNK);
    open = [];
    size = 0;
  }
  yield Buffer.concat(open);
}

const filler = 'Some words of a prompt, with \\"quotes\\" and \\n breaks. ';
const messagesOf = (bytes: number) =>
  `"messages":[${Array.from({ length: 4 }, () => `{"role":"user","content":"${filler.repeat(bytes / 4 / filler.length)}"}`).join()}]`;

async function readInput(): Promise<number> {
  const messages = messagesOf(3900);
  const make = (at: number) =>
    Buffer.from(
      `{"custom_id":"request-${at}","method":"POST","url":"/v1/chat/completions","body":{"model":"m","max_tokens":100,${messages}}}\n`,
    );
  const checked = await checkInput(inChunks(repeated(50_000, make)), {
    endpoint: "/v1/chat/completions",
    lines: 50_000,
  });
  if (checked.faults.length > 0) throw new Error(checked.faults[0]!.message);
  const [start, length] = [checked.offsets.at(-1)!, checked.lengths.at(-1)!];
  return start + length;
}

async function readRequests(): Promise<number> {
  const messages = messagesOf(2500);
  const make = (at: number) =>
    Buffer.from(
      `${at === 0 ? '{"requests":[' : ","}{"custom_id":"request-${at}","params":{"model":"m","max_tokens":100,${messages}}}${at === 99_999 ? "]}" : ""}`,
    );
  const conversion = fromRequests(inChunks(repeated(100_000, make)), "/v1/messages", { lines: 100_000 });
  let bytes = 0;
  for await (const line of conversion.lines()) bytes += line.length;
  if (conversion.around?.count !== 100_000) throw new Error("Some requests are missing.");
  return bytes;
}

const before = peak();
const startedAt = performance.now();
const bytes = process.argv[2] === "lines" ? await readInput() : await readRequests();
console.log(JSON.stringify({ bytes, ms: performance.now() - startedAt, megabytes: peak() - before }));
