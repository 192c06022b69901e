/** What the SDKs do not show: bytes at rest, limits, ranges, uploads that break off, files that are held, and what expires. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { type KeptFiles, keptFiles } from "../../../core/kept-files.ts";
import type { NamedPart, WorkerHost, WorkerPart } from "../../../gateway/seams.ts";

const KEYS = {
  alice: "alice-key-of-files-123456",
  bob: "bob-key-of-files-1234567",
  carol: "carol-key-of-files-12345",
};
const PLANTED = "planted-text-that-nobody-must-find-on-disk";

let gateway: RunningGateway;
let folder: string;
let kept: KeptFiles | undefined;

/** A part that takes the files, as another feature does. */
const taking: NamedPart<WorkerHost, WorkerPart> = {
  name: "taking",
  load: async () => ({
    start: ({ offers }) => ({ seams: () => undefined, serves: () => (kept = keptFiles.get(offers)) }),
  }),
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "weir-files-test-"));
  gateway = await startGateway({
    workers: [taking],
    config: {
      state: join(folder, "state"),
      keys: [
        { name: "alice", key: KEYS.alice, path: "/eng" },
        { name: "bob", key: KEYS.bob, path: "/eng" },
        { name: "carol", key: KEYS.carol, path: "/small" },
      ],
      files: { max: "2MB", quota: "3MB", share: "path" },
    },
  });
  await gateway.opened();
});

afterAll(async () => {
  await gateway.stop();
  await rm(folder, { recursive: true, force: true });
});

const ask = (path: string, init: RequestInit & { key?: string } = {}) => {
  const { key = KEYS.alice, headers, ...rest } = init;
  return fetch(gateway.url + path, { ...rest, headers: { authorization: `Bearer ${key}`, ...headers } });
};

async function send(bytes: BlobPart, { key = KEYS.alice, name = "a.txt", purpose = "user_data" } = {}) {
  const form = new FormData();
  form.append("file", new File([bytes], name));
  form.append("purpose", purpose);
  const answer = await ask("/v1/files", { method: "POST", body: form, key });
  const body = (await answer.json()) as { id: string; error?: { code: string; param?: string } };
  return { ...body, status: answer.status };
}

const remove = (id: string) => ask(`/v1/files/${id}`, { method: "DELETE" });
const objects = async () => (await readdir(join(folder, "state/files")).catch(() => [])).sort();

test("a text is nowhere on disk, and its bytes come back", async () => {
  const text = `${PLANTED}\n`.repeat(5_000);
  const { id } = await send(text);
  expect(await (await ask(`/v1/files/${id}/content`)).text()).toBe(text);
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const found = names.filter((entry) => entry.isFile());
  expect(found.length).toBeGreaterThan(1);
  for (const entry of found) {
    const bytes = await readFile(join(entry.parentPath, entry.name));
    expect([entry.name, bytes.includes(PLANTED)]).toEqual([entry.name, false]);
  }
  await remove(id);
  expect(await objects()).toEqual([]);
});

test("damage is an error, and no content", async () => {
  const { id } = await send(randomBytes(200_000));
  const [name] = await objects();
  const path = join(folder, "state/files", name!);
  const whole = await readFile(path);
  const outcome = async () => {
    const answer = await ask(`/v1/files/${id}/content`);
    return [answer.status, ((await answer.json()) as { error: { code: string } }).error.code];
  };
  const flipped = Buffer.from(whole);
  flipped[100_000]! ^= 1;
  await writeFile(path, flipped);
  expect(await outcome()).toEqual([500, "file_damaged"]);
  await writeFile(path, whole);
  await truncate(path, whole.length - 70_000);
  expect(await outcome()).toEqual([500, "file_damaged"]);
  await rm(path);
  expect(await outcome()).toEqual([500, "file_damaged"]);
  await remove(id);
});

test("damage behind the beginning of a long download breaks it off", async () => {
  const bytes = randomBytes(1_900_000);
  const { id } = await send(bytes);
  const [name] = await objects();
  const path = join(folder, "state/files", name!);
  const stored = await readFile(path);
  stored[1_000_000]! ^= 1;
  await writeFile(path, stored);
  const answer = await ask(`/v1/files/${id}/content`);
  const got: Uint8Array[] = [];
  let fault: unknown;
  try {
    for await (const piece of answer.body!) got.push(piece);
  } catch (thrown) {
    fault = thrown;
  }
  expect([answer.status, fault instanceof Error]).toEqual([200, true]);
  const read = Buffer.concat(got);
  expect(read.length).toBeLessThan(1_000_000);
  expect(read.equals(bytes.subarray(0, read.length))).toBe(true);
  await remove(id);
});

describe("limits", () => {
  test("a file beyond max is a 413, with a length before its body is read", async () => {
    expect((await send(new Uint8Array(2 * 1024 * 1024 + 1))).status).toBe(413);
    const socket = connect(gateway.port, "127.0.0.1");
    const { promise, resolve } = Promise.withResolvers<string>();
    socket.once("data", (data) => resolve(data.toString()));
    socket.write(
      `POST /v1/files HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${KEYS.alice}\r\ncontent-type: multipart/form-data; boundary=b\r\ncontent-length: 99999999\r\n\r\n`,
    );
    expect(await promise).toStartWith("HTTP/1.1 413");
    socket.destroy();
    expect(await objects()).toEqual([]);
  });

  test("a path has a quota, and deleting leaves room", async () => {
    const size = 1_600_000;
    const first = await send(randomBytes(size), { key: KEYS.carol });
    expect(first.status).toBe(200);
    const second = await send(randomBytes(size), { key: KEYS.carol });
    expect([second.status, second.error!.code]).toEqual([403, "file_quota"]);
    const upload = await ask("/v1/uploads", {
      key: KEYS.carol,
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ bytes: size, filename: "a", mime_type: "text/plain", purpose: "user_data" }),
    });
    expect(upload.status).toBe(403);
    expect((await send(randomBytes(size))).status).toBe(200);
    await ask(`/v1/files/${first.id}`, { method: "DELETE", key: KEYS.carol });
    const third = await send(randomBytes(size), { key: KEYS.carol });
    expect(third.status).toBe(200);
    await ask(`/v1/files/${third.id}`, { method: "DELETE", key: KEYS.carol });
    const { data } = (await (await ask("/v1/files")).json()) as { data: { id: string }[] };
    for (const { id } of data) await remove(id);
    expect(await objects()).toEqual([]);
  });

  test("what a form lacks is named", async () => {
    const wrong = await send("x", { purpose: "other" });
    expect([wrong.status, wrong.error!.param]).toEqual([400, "purpose"]);
    expect((await send("x", { purpose: "batch", name: "a.txt" })).status).toBe(400);
    const form = new FormData();
    form.append("purpose", "batch");
    expect((await ask("/v1/files", { method: "POST", body: form })).status).toBe(400);
    expect((await ask("/v1/files", { method: "POST", body: "{}" })).status).toBe(415);
    expect((await ask("/v1/files?limit=0")).status).toBe(400);
    expect(await objects()).toEqual([]);
  });
});

test("ranges of bytes", async () => {
  const bytes = randomBytes(150_000);
  const { id } = await send(bytes);
  const range = async (text: string, headers: Record<string, string> = {}) => {
    const answer = await ask(`/v1/files/${id}/content`, { headers: { range: text, ...headers } });
    return {
      status: answer.status,
      at: answer.headers.get("content-range"),
      got: Buffer.from(await answer.bytes()),
    };
  };
  for (const [text, from, to] of [
    ["bytes=0-0", 0, 1],
    ["bytes=65535-65536", 65_535, 65_537],
    ["bytes=140000-", 140_000, 150_000],
    ["bytes=-10", 149_990, 150_000],
    ["bytes=0-999999", 0, 150_000],
  ] as const) {
    const { status, at, got } = await range(text);
    expect([text, status, at]).toEqual([text, 206, `bytes ${from}-${to - 1}/150000`]);
    expect(got.equals(bytes.subarray(from, to))).toBe(true);
  }
  expect(await range("bytes=150000-")).toMatchObject({ status: 416, at: "bytes */150000" });
  expect((await range("bytes=0-1,4-5")).status).toBe(200);
  expect((await range("bytes=0-1", { "if-range": '"other"' })).status).toBe(200);
  const whole = await ask(`/v1/files/${id}/content`);
  expect(whole.headers.get("content-length")).toBe("150000");
  expect((await range("bytes=0-1", { "if-range": whole.headers.get("etag")! })).status).toBe(206);
  await remove(id);
});

test("keys of the same path see a file where the config shares it", async () => {
  const { id } = await send("shared");
  expect((await ask(`/v1/files/${id}`, { key: KEYS.bob })).status).toBe(200);
  expect((await ask(`/v1/files/${id}`, { key: KEYS.carol })).status).toBe(404);
  await remove(id);
});

test("an upload that is cut at any place leaves nothing", async () => {
  const form = new FormData();
  form.append("file", new File([randomBytes(100_000)], "a.bin"));
  form.append("purpose", "user_data");
  const written = new Response(form);
  const body = Buffer.from(await written.clone().arrayBuffer());
  const head = `POST /v1/files HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${KEYS.alice}\r\ncontent-type: ${written.headers.get("content-type")}\r\ncontent-length: ${body.length}\r\n\r\n`;
  for (let cut = 0; cut < body.length; cut += 9_973) {
    const socket = connect(gateway.port, "127.0.0.1");
    socket.on("error", () => {});
    await new Promise((resolve) =>
      socket.write(Buffer.concat([Buffer.from(head), body.subarray(0, cut)]), resolve),
    );
    await Bun.sleep(20);
    socket.destroy();
  }
  for (let tries = 0; tries < 200 && (await objects()).length > 0; tries++) await Bun.sleep(50);
  expect(await objects()).toEqual([]);
  expect(((await (await ask("/v1/files")).json()) as { data: unknown[] }).data).toEqual([]);
});

describe("a resumable upload", () => {
  const google = { "x-goog-api-key": KEYS.alice };
  const bytes = randomBytes(300_000);

  const begin = async (length: number | undefined) => {
    const answer = await fetch(`${gateway.url}/upload/v1beta/files`, {
      method: "POST",
      headers: {
        ...google,
        ...{ "x-goog-upload-protocol": "resumable", "x-goog-upload-command": "start" },
        ...(length !== undefined && { "x-goog-upload-header-content-length": String(length) }),
        "content-type": "application/json",
      },
      body: JSON.stringify({ file: { displayName: "r" } }),
    });
    expect(answer.status).toBe(200);
    const url = answer.headers.get("x-goog-upload-url")!;
    expect(url).toStartWith(`${gateway.url}/upload/v1beta/files?upload_id=`);
    return url;
  };
  /** Without a credential: the URL is one. */
  const go = (url: string, command: string, offset: number, body?: Uint8Array<ArrayBuffer>) =>
    fetch(url, {
      method: "POST",
      headers: { "x-goog-upload-command": command, "x-goog-upload-offset": String(offset) },
      ...(body && { body }),
    });
  const received = async (url: string) =>
    Number((await go(url, "query", 0)).headers.get("x-goog-upload-size-received"));

  test("that breaks off in each part is continued", async () => {
    const url = await begin(bytes.length);
    const { pathname, search } = new URL(url);
    let at = 0;
    for (let part = 0; part < 5; part++) {
      const before = at;
      // On a busy machine a connection may end before the gateway has read anything of it.
      for (let breaks = 0; breaks < 5 && at === before; breaks++) {
        // The request promises all that is missing, and ends on the way.
        const socket = connect(gateway.port, "127.0.0.1");
        socket.on("error", () => {});
        const head = `POST ${pathname}${search} HTTP/1.1\r\nhost: localhost\r\nx-goog-upload-command: upload, finalize\r\nx-goog-upload-offset: ${at}\r\ncontent-length: ${bytes.length - at}\r\n\r\n`;
        const some = bytes.subarray(at, at + 50_000);
        await new Promise((resolve) => socket.write(Buffer.concat([Buffer.from(head), some]), resolve));
        await Bun.sleep(50);
        socket.destroy();
        for (let tries = 0; tries < 40 && at === before; tries++) {
          await Bun.sleep(25);
          at = await received(url);
        }
      }
      expect(at).toBeGreaterThan(before);
      expect(at).toBeLessThanOrEqual(before + 50_000);
    }
    const wrong = await go(url, "upload", at + 1, new Uint8Array(1));
    expect([wrong.status, wrong.headers.get("x-goog-upload-size-received")]).toEqual([400, String(at)]);
    const done = await go(url, "upload, finalize", at, new Uint8Array(bytes.subarray(at)));
    expect([done.status, done.headers.get("x-goog-upload-status")]).toEqual([200, "final"]);
    const { file } = (await done.json()) as { file: { name: string; sha256Hash: string } };
    expect(file.sha256Hash).toBe(new Bun.CryptoHasher("sha256").update(bytes).digest("base64"));
    // The answer may have been lost.
    expect(
      ((await (await go(url, "upload, finalize", at)).json()) as { file: { name: string } }).file.name,
    ).toBe(file.name);
    const content = await fetch(`${gateway.url}/v1beta/${file.name}:download?alt=media`, { headers: google });
    expect(Buffer.from(await content.bytes()).equals(bytes)).toBe(true);
    await fetch(`${gateway.url}/v1beta/${file.name}`, { method: "DELETE", headers: google });
    expect(await objects()).toEqual([]);
  });

  test("of unknown length is no file if its last request breaks off", async () => {
    const url = await begin(undefined);
    const { pathname, search } = new URL(url);
    const head = `POST ${pathname}${search} HTTP/1.1\r\nhost: localhost\r\nx-goog-upload-command: upload, finalize\r\nx-goog-upload-offset: 0\r\n`;
    const socket = connect(gateway.port, "127.0.0.1");
    socket.on("error", () => {});
    const body = `${head}transfer-encoding: chunked\r\n\r\n5\r\nbegin\r\n`;
    await new Promise<void>((resolve) => socket.write(body, () => resolve()));
    await Bun.sleep(100);
    socket.destroy();
    for (let tries = 0; tries < 100 && (await received(url)) === 0; tries++) await Bun.sleep(25);
    const query = await go(url, "query", 0);
    expect([query.headers.get("x-goog-upload-status"), await received(url)]).toEqual(["active", 5]);
    await go(url, "cancel", 0);
    expect(await objects()).toEqual([]);
  });

  test("that is given up, too long, or unknown", async () => {
    const url = await begin(10);
    expect((await go(url, "upload", 0, new Uint8Array(11))).status).toBe(413);
    expect(await received(url)).toBe(0);
    expect((await go(url, "upload", 0, new Uint8Array(4))).status).toBe(200);
    expect((await go(url, "finalize", 4)).status).toBe(400);
    expect((await go(url, "cancel", 0)).headers.get("x-goog-upload-status")).toBe("cancelled");
    expect((await go(url, "upload", 4, new Uint8Array(6))).status).toBe(400);
    expect((await go(url.replace(/upload_id=.{8}/, "upload_id=00000000"), "query", 0)).status).toBe(404);
    expect(await objects()).toEqual([]);
  });
});

test("another part reads, writes, holds and releases files", async () => {
  const pieces = async function* () {
    for (const text of ["one ", "two"]) yield new TextEncoder().encode(text);
  };
  const facts = { path: "/eng", name: "out.jsonl", purpose: "batch_output", mime: "application/jsonl" };
  const file = await kept!.write(facts, pieces());
  const read = async (range?: { from: number; to: number }) =>
    Buffer.concat(await Array.fromAsync(kept!.read({ ...file }, range))).toString();
  expect([await read(), await read({ from: 2, to: 5 })]).toEqual(["one two", "e t"]);
  expect(await kept!.find(`file_${file.id}`, undefined)).toMatchObject({ name: "out.jsonl", bytes: 7 });

  await kept!.hold(file.id, "batch a");
  await kept!.hold(file.id, "batch a");
  await kept!.hold(file.id, "batch b");
  const refused = async () => {
    const openai = await remove(file.id);
    const anthropic = await ask(`/v1/files/${file.id}`, {
      method: "DELETE",
      headers: { "anthropic-version": "1" },
    });
    const google = await ask(`/v1beta/files/${file.id}`, { method: "DELETE" });
    return [openai.status, anthropic.status, google.status];
  };
  expect(await refused()).toEqual([409, 409, 400]);
  await kept!.release(file.id, "batch a");
  expect(await refused()).toEqual([409, 409, 400]);
  await kept!.release(file.id, "batch b");
  expect((await remove(file.id)).status).toBe(200);
  expect(await kept!.find(file.id, undefined)).toBeUndefined();
  const faultOf = (asked: Promise<unknown>) => asked.then(String, (thrown: Error) => thrown.message);
  expect(await faultOf(kept!.hold(file.id, "batch a"))).toBe("There is no such file.");

  const cut = async function* () {
    yield new TextEncoder().encode("one");
    throw new Error("broke off");
  };
  expect(await faultOf(kept!.write(facts, cut()))).toBe("broke off");
  for (let tries = 0; tries < 100 && (await objects()).length > 0; tries++) await Bun.sleep(20);
  expect(await objects()).toEqual([]);
});
