/**
 * Files and batches of weir in a bucket of a real server (`s3.sh` starts one). Prints one line for each promise with the
 * figure seen, and exits 1 if one of them fails.
 *
 *     bun test/clients/s3.ts http://127.0.0.1:18183
 */
import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { S3Client } from "bun";
import OpenAI from "openai";
import { startGateway } from "../helpers/gateway.ts";
import { see } from "../helpers/sdk.ts";

const endpoint = process.argv[2] ?? "http://127.0.0.1:18183";
const PLANTED = "planted-text-that-no-bucket-must-have";
const MB = 1024 * 1024;
const LARGE = 150 * MB;
const access = { endpoint, region: "us-east-1", accessKeyId: "id", secretAccessKey: "secret" };
const bucket = new S3Client({ ...access, bucket: "kept" });
// The server checks no signatures, and a bucket is an empty PUT.
await fetch(`${endpoint}/kept`, { method: "PUT", headers: { authorization: "AWS id:signature" } });
const gateway = await startGateway({
  target: process.env["WEIR_TARGET"] === "binary" ? "binary" : "process",
  env: {
    ...{ S3_ENDPOINT: endpoint, S3_REGION: access.region },
    ...{ S3_ACCESS_KEY_ID: access.accessKeyId, S3_SECRET_ACCESS_KEY: access.secretAccessKey },
  },
  config: { files: { where: "s3://kept/weir" } },
});
const client = new OpenAI({ apiKey: "none", baseURL: `${gateway.url}/v1`, maxRetries: 0 });
let failed = 0;

/** @param run returns whether the promise holds, and the figure that shows it */
async function check(promise: string, run: () => Promise<[holds: boolean, figure: unknown]>): Promise<void> {
  const seen = await see(run);
  const [holds, figure] = "value" in seen ? seen.value : [false, seen.error];
  if (!holds) failed++;
  console.log(`${holds ? "ok  " : "FAIL"}  ${promise}: ${JSON.stringify(figure)}`);
}

const keysIn = async () => ((await bucket.list()).contents ?? []).map(({ key }) => key);
const digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** Whether a text is in an object of the bucket or in a file of the gateway. */
async function placesOf(text: string): Promise<string[]> {
  const found: string[] = [];
  for (const key of await keysIn())
    if (Buffer.from(await bucket.file(key).bytes()).includes(text)) found.push(key);
  for (const one of readdirSync(gateway.folder, { recursive: true, withFileTypes: true })) {
    const path = join(one.parentPath, one.name);
    if (one.isFile() && readFileSync(path).includes(text)) found.push(path);
  }
  return found;
}

await check("a file is sealed in the bucket and read back", async () => {
  const text = `${PLANTED}\n`.repeat(300_000);
  const { id } = await client.files.create({ file: new File([text], "a.txt"), purpose: "user_data" });
  const [keys, places] = [await keysIn(), await placesOf(PLANTED)];
  const same = (await (await client.files.content(id)).text()) === text;
  return [same && keys.length === 1 && places.length === 0, { keys: keys.length, places }];
});
await check("ranges are exact", async () => {
  const bytes = randomBytes(3 * MB);
  const { id } = await client.files.create({ file: new File([bytes], "a.bin"), purpose: "user_data" });
  const seen: boolean[] = [];
  for (const [from, to] of [
    [0, 0],
    [65_535, 65_536],
    [1_000_000, 2_500_000],
    [bytes.length - 1, bytes.length - 1],
  ] as const) {
    const answer = await fetch(`${gateway.url}/v1/files/${id}/content`, {
      headers: { range: `bytes=${from}-${to}` },
    });
    const part = Buffer.from(await answer.arrayBuffer());
    seen.push(answer.status === 206 && part.equals(bytes.subarray(from, to + 1)));
  }
  return [seen.every(Boolean), seen];
});
await check("a large file is sent in parts and comes back whole", async () => {
  const bytes = randomBytes(LARGE);
  const upload = await client.uploads.create({
    ...{ bytes: LARGE, filename: "large.bin", mime_type: "application/octet-stream", purpose: "user_data" },
  });
  const ids: string[] = [];
  for (let at = 0; at < LARGE; at += 64 * MB)
    ids.push(
      (
        await client.uploads.parts.create(upload.id, {
          data: new File([bytes.subarray(at, at + 64 * MB)], "p"),
        })
      ).id,
    );
  const { file } = await client.uploads.complete(upload.id, { part_ids: ids });
  const back = new Uint8Array(await (await client.files.content(file!.id)).arrayBuffer());
  return [digest(back) === digest(bytes), { megabytes: back.length / MB, parts: ids.length }];
});
await check("a batch reads from the bucket and writes to it, sealed", async () => {
  const lines = Array.from({ length: 50 }, (_, at) =>
    JSON.stringify({
      ...{ custom_id: `l${at}`, method: "POST", url: "/v1/chat/completions" },
      body: { model: "mock/echo", messages: [{ role: "user", content: `${PLANTED} ${at}` }] },
    }),
  );
  const input = await client.files.create({
    ...{ file: new File([lines.join("\n")], "in.jsonl"), purpose: "batch" },
  });
  let batch = await client.batches.create({
    ...{ input_file_id: input.id, endpoint: "/v1/chat/completions", completion_window: "24h" },
  });
  while (!["completed", "failed"].includes(batch.status)) {
    await Bun.sleep(100);
    batch = await client.batches.retrieve(batch.id);
  }
  const text = batch.output_file_id ? await (await client.files.content(batch.output_file_id)).text() : "";
  const said = text.split(PLANTED).length - 1;
  const places = await placesOf(PLANTED);
  return [said === 50 && places.length === 0, { status: batch.status, said, places }];
});
await check("an upload whose client leaves is no file", async () => {
  const before = (await keysIn()).length;
  const leaving = new AbortController();
  const body = new ReadableStream({
    start: (out) =>
      out.enqueue(
        Buffer.from('--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nhalf of it'),
      ),
  });
  const sent = fetch(`${gateway.url}/v1/files`, {
    ...{ method: "POST", body, signal: leaving.signal },
    headers: { "content-type": "multipart/form-data; boundary=b" },
  }).catch(() => undefined);
  await Bun.sleep(500);
  leaving.abort();
  await sent;
  await Bun.sleep(500);
  const after = (await keysIn()).length;
  return [after === before, { before, after }];
});
await check("files that are deleted leave nothing in the bucket", async () => {
  for await (const { id } of client.files.list()) await client.files.delete(id);
  const keys = await keysIn();
  return [keys.length === 0, keys];
});

await gateway.stop();
process.exit(failed === 0 ? 0 : 1);
