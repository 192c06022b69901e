/**
 * A large file by parts, ranges of it, and a resumable upload of Google that breaks off in each of its parts:
 *
 *     bun src/features/files/test/large-run.ts [GIGABYTES]
 *
 * Prints one line for each promise with the figure seen, and exits with 1 if one of them fails. The default is 8 GB; the folder
 * for temporary files needs twice as much, because the parts are copied into the file.
 */
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "../../../../test/helpers/serving.ts";

const MB = 1024 * 1024;
const GIGABYTES = Number(process.argv[2] ?? 8);
/** OpenAI's limit of a part. */
const PART = 64 * MB;
const PARTS = Math.floor((GIGABYTES * 1000 * 1000 * 1000) / PART);
const SIZE = PARTS * PART;
/** What the gateway may hold beyond what it had before. Bytes. */
const MOST = 64 * MB;

await using ends = new AsyncDisposableStack();
const root = mkdtempSync(join(tmpdir(), "weir-large-run-"));
ends.defer(() => rmSync(root, { recursive: true, force: true }));
const state = join(root, "state");
mkdirSync(state, { mode: 0o700 });
const gateway = await serve({
  ...{ workers: 1, env: { WEIR_STATE: state } },
  config: JSON.stringify({ files: { quota: "40GB" }, log: { format: "json" } }),
});
ends.defer(() => gateway.end());
let failed = 0;
function hold(promise: string, holds: boolean, figure: unknown): void {
  if (!holds) failed++;
  console.log(`${holds ? "ok  " : "FAIL"}  ${promise}: ${JSON.stringify(figure)}`);
}

const pids = [gateway.pid, ...gateway.children()];
const resident = (pid: number, member: "VmRSS" | "VmHWM") =>
  Number(new RegExp(`${member}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;
const now = () => pids.reduce((sum, pid) => sum + resident(pid, "VmRSS"), 0);
/** The most that the gateway and its children had, as Linux counts it. Bytes. */
const peak = () => pids.reduce((sum, pid) => sum + resident(pid, "VmHWM"), 0);
/** The peak is what they have now. */
const forget = () => pids.forEach((pid) => writeFileSync(`/proc/${pid}/clear_refs`, "5"));

/** Bytes that differ at each place, so that parts cannot be swapped: the number of each 8 bytes. */
function bytesAt(from: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; at += 8) bytes.writeBigUInt64LE(BigInt(from + at), at);
  return bytes;
}

const json = async (path: string, body: unknown) => {
  const answer = await fetch(`${gateway.url}${path}`, {
    ...{ method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) },
  });
  return (await answer.json()) as { id: string; status?: string; file?: { id: string; bytes: number } };
};

async function sendPart(upload: string, from: number, length: number): Promise<string> {
  const form = new FormData();
  form.set("data", new File([bytesAt(from, length) as Uint8Array<ArrayBuffer>], "part"));
  const answer = await fetch(`${gateway.url}/v1/uploads/${upload}/parts`, { method: "POST", body: form });
  if (!answer.ok) throw new Error(await answer.text());
  return ((await answer.json()) as { id: string }).id;
}

const facts = { filename: "l.bin", mime_type: "application/octet-stream", purpose: "user_data" };

/** Sends a file by parts. @returns its id */
async function send(bytes: number): Promise<string> {
  const { id } = await json("/v1/uploads", { ...facts, bytes });
  const part_ids: string[] = [];
  for (let at = 0; at < bytes; at += PART) part_ids.push(await sendPart(id, at, Math.min(PART, bytes - at)));
  const { file, ...rest } = await json(`/v1/uploads/${id}/complete`, { part_ids });
  if (!file) throw new Error(JSON.stringify(rest));
  return file.id;
}

async function load(id: string): Promise<{ bytes: number; wrong: number }> {
  const answer = await fetch(`${gateway.url}/v1/files/${id}/content`);
  let [bytes, wrong] = [0, 0];
  for await (const piece of answer.body!) {
    const view = Buffer.from(piece);
    // One number of each piece, and its place, show every swap.
    const at = (8 - (bytes % 8)) % 8;
    if (view.length >= at + 8 && view.readBigUInt64LE(at) !== BigInt(bytes + at)) wrong++;
    bytes += piece.length;
  }
  return { bytes, wrong };
}

const rounded = (bytes: number) => Math.round(bytes / MB);

// The first transfers load code and grow the heap of the runtime.
const warm = await send(3 * PART);
await load(warm);
const before = now();
forget();
let began = performance.now();
const id = await send(SIZE);
let seconds = (performance.now() - began) / 1_000;
hold(`${PARTS} parts of 64 MB become a file within +64 MB of memory`, peak() - before < MOST, {
  ...{ gigabytes: SIZE / 1e9, megabytes: rounded(peak() - before), of: rounded(before) },
  perSecond: `${rounded(SIZE / seconds)} MB`,
});
forget();
began = performance.now();
const { bytes, wrong } = await load(id);
seconds = (performance.now() - began) / 1_000;
hold("it comes back whole within +64 MB of memory", bytes === SIZE && wrong === 0 && peak() - before < MOST, {
  ...{ bytes, wrong, megabytes: rounded(peak() - before), perSecond: `${rounded(SIZE / seconds)} MB` },
});

let exact = 0;
let slowest = 0;
for (let tries = 0; tries < 200; tries++) {
  const from = Math.floor((Math.random() * SIZE) / 8) * 8;
  const length = Math.min(SIZE - from, 8 * Math.ceil(Math.random() * 40_000));
  const asked = performance.now();
  const answer = await fetch(`${gateway.url}/v1/files/${id}/content`, {
    headers: { range: `bytes=${from}-${from + length - 1}` },
  });
  const part = Buffer.from(await answer.arrayBuffer());
  slowest = Math.max(slowest, performance.now() - asked);
  if (answer.status === 206 && part.equals(bytesAt(from, length))) exact++;
}
hold("200 ranges at random are exact", exact === 200, { exact, slowestMs: Math.round(slowest) });
for (const one of [warm, id]) await fetch(`${gateway.url}/v1/files/${one}`, { method: "DELETE" });
const rest = readdirSync(join(state, "files"), { recursive: true, withFileTypes: true });
hold("nothing is left of files that were deleted", !rest.some((one) => one.isFile()), rest.length);

const address = new URL(gateway.url);

/** Sends a part and closes the connection in the middle of it. */
async function breakOff(path: string, offset: number, part: Buffer, sent: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect(Number(address.port), address.hostname, () => {
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: ${address.host}\r\ncontent-length: ${part.length}\r\n` +
        `x-goog-upload-command: upload\r\nx-goog-upload-offset: ${offset}\r\n\r\n`,
    );
    socket.write(part.subarray(0, sent), () => setTimeout(() => socket.destroy(), 100));
  });
  socket.on("close", () => resolve());
  socket.on("error", reject);
  await promise;
}

const LENGTH = 8 * MB;
const COUNT = 10;
const whole = bytesAt(0, COUNT * LENGTH).subarray(0, -5);
const started = await fetch(`${gateway.url}/upload/v1beta/files`, {
  method: "POST",
  headers: {
    "content-type": "application/json",
    "x-goog-upload-protocol": "resumable",
    "x-goog-upload-command": "start",
    "x-goog-upload-header-content-length": String(whole.length),
  },
  body: JSON.stringify({ file: { displayName: "resumed" } }),
});
const target = new URL(started.headers.get("x-goog-upload-url")!);
const command = (name: string, offset = 0, body?: Uint8Array<ArrayBuffer>) =>
  fetch(target, {
    method: "POST",
    headers: { "x-goog-upload-command": name, "x-goog-upload-offset": String(offset) },
    ...(body && { body }),
  });
const received = async () => Number((await command("query")).headers.get("x-goog-upload-size-received"));

let [offset, kept, refused] = [0, 0, 0];
for (let part = 0; offset < whole.length; part++) {
  const end = Math.min(whole.length, (part + 1) * LENGTH);
  await breakOff(
    target.pathname + target.search,
    offset,
    whole.subarray(offset, end),
    Math.floor(LENGTH / 3),
  );
  // What had arrived is kept as soon as the gateway has seen the end of the connection.
  const old = offset;
  for (let tries = 0; tries < 100 && offset === old; tries++) {
    await Bun.sleep(50);
    offset = await received();
  }
  if (offset > old) kept++;
  if ((await command("upload", old, new Uint8Array(8))).status === 400) refused++;
  const isLast = end === whole.length;
  const answer = await command(
    ...([
      isLast ? "upload, finalize" : "upload",
      offset,
      new Uint8Array(whole.subarray(offset, end)),
    ] as const),
  );
  if (!answer.ok) throw new Error(await answer.text());
  offset = end;
  if (!isLast) continue;
  const { file } = (await answer.json()) as { file: { name: string } };
  const back = await fetch(`${gateway.url}/v1beta/${file.name}:download?alt=media`);
  const digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
  const same = digest(new Uint8Array(await back.arrayBuffer())) === digest(whole);
  // The answer to the last request may have been lost.
  const again = (await (await command("upload, finalize", offset)).json()) as { file: object };
  hold(
    "a resumable upload that breaks off in each part is whole",
    same && kept === COUNT && refused === COUNT,
    {
      ...{ parts: COUNT, kept, refused, same },
    },
  );
  hold("its last request may be sent again", JSON.stringify(again.file).includes(file.name), file.name);
}
process.exitCode = failed === 0 ? 0 : 1;
