/** Two workers and their keeper, each a process: any of them serves any file. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";

const KEY = "alice-key-of-files-123456";

let gateway: RunningGateway;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "weir-files-test-"));
  gateway = await startGateway({
    target: "process",
    env: { WEIR_WORKERS: "2" },
    config: { keys: [{ name: "alice", key: KEY }], state: join(folder, "state") },
  });
}, 120_000);

afterAll(async () => {
  await gateway.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Each request has a connection of its own, which any worker may take. */
const ask = (path: string, init: RequestInit = {}) =>
  fetch(gateway.url + path, {
    ...init,
    headers: { authorization: `Bearer ${KEY}`, connection: "close", ...init.headers },
  });

async function part(upload: string, bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const form = new FormData();
  form.append("data", new File([bytes], "part"));
  const answer = await ask(`/v1/uploads/${upload}/parts`, { method: "POST", body: form });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { id: string }).id;
}

const post = async (path: string, body: object) =>
  (await (
    await ask(path, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
    })
  ).json()) as { id: string; file: { id: string } };

test("20 parts over two workers become one file, which 20 readers have from both", async () => {
  const bytes = randomBytes(20 * 100_000);
  const about = { bytes: bytes.length, filename: "a.bin", mime_type: "text/plain", purpose: "user_data" };
  const { id } = await post("/v1/uploads", about);
  const parts = await Promise.all(
    Array.from({ length: 20 }, (_, at) => part(id, bytes.subarray(at * 100_000, (at + 1) * 100_000))),
  );
  const { file } = await post(`/v1/uploads/${id}/complete`, { part_ids: parts });
  const read = await Promise.all(
    Array.from({ length: 20 }, async () =>
      Buffer.from(await (await ask(`/v1/files/${file.id}/content`)).bytes()).equals(bytes),
    ),
  );
  expect(read).toEqual(read.map(() => true));
  expect((await readdir(join(folder, "state/files"))).length).toBe(1);
  expect((await ask(`/v1/files/${file.id}`, { method: "DELETE" })).status).toBe(200);
  expect(await readdir(join(folder, "state/files"))).toEqual([]);
}, 120_000);

test("files are there after a start", async () => {
  const form = new FormData();
  form.append("file", new File(["kept"], "kept.txt"));
  form.append("purpose", "user_data");
  const { id } = (await (await ask("/v1/files", { method: "POST", body: form })).json()) as { id: string };
  await gateway.stop();
  gateway = await startGateway({
    target: "process",
    env: { WEIR_WORKERS: "2" },
    config: { keys: [{ name: "alice", key: KEY }], state: join(folder, "state") },
  });
  expect(await (await ask(`/v1/files/${id}/content`)).text()).toBe("kept");
}, 120_000);
