/** The SDKs of three vendors keep files: each in its own dialect, and the same files in those of the others. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { haveDocument, judge } from "../../../../test/formats/chat-completions/openapi.ts";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import type { Json } from "../../../core/json.ts";

const KEYS = {
  alice: "alice-key-of-files-123456",
  bob: "bob-key-of-files-1234567",
  carol: "carol-key-of-files-12345",
};

let gateway: RunningGateway;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "weir-files-test-"));
  const keys = Object.entries(KEYS).map(([name, key]) => ({ name, key }));
  gateway = await startGateway({ config: { keys, state: join(folder, "state") } });
  await gateway.opened();
});

afterAll(async () => {
  await gateway.stop();
  await rm(folder, { recursive: true, force: true });
});

const openai = (apiKey = KEYS.alice) => new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
const anthropic = (apiKey = KEYS.alice) => new Anthropic({ apiKey, baseURL: gateway.url, maxRetries: 0 });
const google = (apiKey = KEYS.alice, apiVersion?: string) =>
  new GoogleGenAI({ apiKey, httpOptions: { baseUrl: gateway.url, ...(apiVersion && { apiVersion }) } });

/** What the vendor's document says against a value. */
const faults = (name: string, value: object) =>
  haveDocument ? judge(name, JSON.parse(JSON.stringify(value)) as Json) : [];

const statusOf = (asked: Promise<unknown>) =>
  asked.then(
    () => 200,
    (thrown: { status?: number }) => thrown.status,
  );

test("openai: create, retrieve, list, content, delete", async () => {
  const client = openai();
  const text = '{"custom_id":"a"}\n';
  const created = await client.files.create({
    file: new File([text], 'näme "q".jsonl'),
    purpose: "batch",
    expires_after: { anchor: "created_at", seconds: 3600 },
  });
  expect(created).toMatchObject({ object: "file", filename: 'näme "q".jsonl', purpose: "batch", bytes: 18 });
  expect(created.id).toMatch(/^file-[0-9a-hjkmnp-tv-z]{26}$/);
  expect(created.expires_at! - created.created_at).toBeWithin(3599, 3602);
  expect(faults("OpenAIFile", created)).toEqual([]);
  const other = await client.files.create({ file: new File(["x"], "x.txt"), purpose: "user_data" });
  expect(await client.files.retrieve(created.id)).toMatchObject({ id: created.id, status: "processed" });
  const listed = await client.files.list({ purpose: "batch", limit: 1 });
  expect(listed.data.map(({ id }) => id)).toEqual([created.id]);
  const raw: unknown = await client.files
    .list()
    .asResponse()
    .then((answer) => answer.json());
  expect(faults("ListFilesResponse", raw as object)).toEqual([]);
  const all: string[] = [];
  for await (const file of client.files.list({ limit: 1, order: "asc" })) all.push(file.id);
  expect(all).toEqual([created.id, other.id]);
  const content = await client.files.content(created.id);
  expect(content.headers.get("content-type")).toBe("application/jsonl");
  expect(await content.text()).toBe(text);
  for (const { id } of [created, other]) {
    const deleted = await client.files.delete(id);
    expect(deleted).toMatchObject({ id, deleted: true });
    expect(faults("DeleteFileResponse", deleted)).toEqual([]);
  }
  expect(await statusOf(client.files.retrieve(created.id))).toBe(404);
  expect((await client.files.list()).data).toEqual([]);
});

test("openai: an upload in parts, in the order of part_ids", async () => {
  const client = openai();
  const upload = await client.uploads.create({
    bytes: 6,
    filename: "a.jsonl",
    mime_type: "text/jsonl",
    purpose: "batch",
  });
  expect(faults("Upload", upload)).toEqual([]);
  const parts = await Promise.all(
    ["def", "abc"].map((text) => client.uploads.parts.create(upload.id, { data: new File([text], "part") })),
  );
  expect(faults("UploadPart", parts[0]!)).toEqual([]);
  const ids = [parts[1]!.id, parts[0]!.id];
  const md5 = new Bun.CryptoHasher("md5").update("abcdef").digest("hex");
  expect(await statusOf(client.uploads.complete(upload.id, { part_ids: ids.slice(1) }))).toBe(400);
  expect(await statusOf(client.uploads.complete(upload.id, { part_ids: ids, md5: "0".repeat(32) }))).toBe(
    400,
  );
  const done = await client.uploads.complete(upload.id, { part_ids: ids, md5 });
  expect(done.status).toBe("completed");
  expect(faults("Upload", done)).toEqual([]);
  expect(await (await client.files.content(done.file!.id)).text()).toBe("abcdef");
  expect(await statusOf(client.uploads.cancel(upload.id))).toBe(400);
  await client.files.delete(done.file!.id);

  const given = await client.uploads.create({
    bytes: 3,
    filename: "b.txt",
    mime_type: "text/plain",
    purpose: "user_data",
  });
  await client.uploads.parts.create(given.id, { data: new File(["abc"], "part") });
  expect(await statusOf(client.uploads.parts.create(given.id, { data: new File(["d"], "part") }))).toBe(400);
  expect(await statusOf(openai(KEYS.bob).uploads.cancel(given.id))).toBe(404);
  expect((await client.uploads.cancel(given.id)).status).toBe("cancelled");
  expect(await statusOf(client.uploads.parts.create(given.id, { data: new File(["d"], "part") }))).toBe(400);
});

test("anthropic: upload, metadata, list, download, delete", async () => {
  const { files } = anthropic().beta;
  const made = [];
  for (const name of ["a.txt", "b.txt", "c.txt"])
    made.push(
      await files.upload({
        file: new File([`bytes of ${name}`], name, { type: "text/plain" }),
        expires_in_seconds: 7200,
      }),
    );
  const [first] = made;
  expect(first).toMatchObject({ type: "file", filename: "a.txt", mime_type: "text/plain", size_bytes: 14 });
  expect(first!.id).toMatch(/^file_/);
  expect(Date.parse(first!.expires_at!) - Date.parse(first!.created_at)).toBe(7_200_000);
  expect(await files.retrieveMetadata(first!.id)).toMatchObject({ id: first!.id });
  const newest = made.map(({ id }) => id).reverse();
  const listed: string[] = [];
  for await (const file of files.list({ limit: 2 })) listed.push(file.id);
  expect(listed).toEqual(newest);
  const some = await files.list({ ids: [newest[0]!, newest[2]!] });
  expect(some.data.map(({ id }) => id)).toEqual([newest[0]!, newest[2]!]);
  expect(await (await files.download(first!.id)).text()).toBe("bytes of a.txt");
  for (const { id } of made) expect(await files.delete(id)).toMatchObject({ id, type: "file_deleted" });
  expect(await statusOf(files.retrieveMetadata(first!.id))).toBe(404);
});

test("anthropic: pages before and after a file", async () => {
  const { files } = anthropic().beta;
  const ids: string[] = [];
  for (let at = 0; at < 5; at++) ids.unshift((await files.upload({ file: new File(["x"], "x") })).id);
  const page = async (query: string) => {
    const headers = { "x-api-key": KEYS.alice, "anthropic-version": "2023-06-01" };
    const answer = await fetch(`${gateway.url}/v1/files?${query}`, { headers });
    const { data, has_more } = (await answer.json()) as { data: { id: string }[]; has_more: boolean };
    return [data.map(({ id }) => id), has_more];
  };
  expect(await page(`limit=2&after_id=${ids[1]}`)).toEqual([ids.slice(2, 4), true]);
  expect(await page(`limit=2&before_id=${ids[3]}`)).toEqual([ids.slice(1, 3), true]);
  expect(await page(`limit=2&before_id=${ids[1]}`)).toEqual([ids.slice(0, 1), false]);
  for (const id of ids) await files.delete(id);
});

describe.each([undefined, "v1beta"])("google (version %s)", (version) => {
  test("upload, get, list, download, delete", async () => {
    const { files } = google(KEYS.alice, version);
    const file = await files.upload({
      file: new Blob(['{"a":1}\n'], { type: "application/jsonl" }),
      config: { displayName: "d", mimeType: "application/jsonl" },
    });
    expect(file).toMatchObject({
      displayName: "d",
      mimeType: "application/jsonl",
      sizeBytes: "8",
      state: "ACTIVE",
    });
    expect(file.name).toMatch(/^files\//);
    expect(file.uri).toBe(`${gateway.url}/v1beta/${file.name}`);
    const large = new Blob(["x".repeat(17 * 1024 * 1024)], { type: "text/plain" });
    const second = await files.upload({ file: large, config: { displayName: "large" } });
    expect(second.sizeBytes).toBe(String(large.size));
    expect((await files.get({ name: file.name! })).name).toBe(file.name!);
    const names: (string | undefined)[] = [];
    for await (const one of await files.list({ config: { pageSize: 1 } })) names.push(one.name);
    expect(names).toEqual([second.name, file.name]);
    const downloadPath = join(folder, `download-${version}`);
    await files.download({ file: file.name!, downloadPath });
    for (let tries = 0; tries < 100; tries++) {
      if ((await readFile(downloadPath, "utf8").catch(() => "")) !== "") break;
      await Bun.sleep(50);
    }
    expect(await readFile(downloadPath, "utf8")).toBe('{"a":1}\n');
    for (const { name } of [file, second]) await files.delete({ name: name! });
    expect(await statusOf(files.get({ name: file.name! }))).toBe(404);
  });
});

test("a file has one id in three forms, and others do not see it", async () => {
  const made = await openai().files.create({ file: new File(["one"], "one.txt"), purpose: "user_data" });
  const id = made.id.slice("file-".length);
  expect(await anthropic().beta.files.retrieveMetadata(made.id)).toMatchObject({ id: `file_${id}` });
  expect(await google().files.get({ name: `files/${id}` })).toMatchObject({
    name: `files/${id}`,
    sizeBytes: "3",
  });
  expect((await openai().files.retrieve(`file_${id}`)).id).toBe(made.id);
  for (const asked of [
    () => openai(KEYS.bob).files.retrieve(made.id),
    () => openai(KEYS.bob).files.content(made.id),
    () => openai(KEYS.bob).files.delete(made.id),
    () => anthropic(KEYS.bob).beta.files.retrieveMetadata(`file_${id}`),
    () => anthropic(KEYS.bob).beta.files.delete(`file_${id}`),
    () => google(KEYS.bob).files.get({ name: `files/${id}` }),
    () => google(KEYS.bob).files.delete({ name: `files/${id}` }),
    () => openai().files.retrieve("file-nothing"),
  ])
    expect(await statusOf(asked())).toBe(404);
  expect((await openai(KEYS.bob).files.list()).data).toEqual([]);
  expect(await statusOf(openai("wrong-key-of-files-12345").files.list())).toBe(401);
  await openai().files.delete(made.id);
});

test("errors have the shape of the vendor", async () => {
  const missing = await openai()
    .files.retrieve("file-x")
    .catch((thrown: unknown) => thrown);
  expect(missing).toMatchObject({ status: 404, code: "file_not_found" });
  const absent = await anthropic()
    .beta.files.retrieveMetadata("file_x")
    .catch((thrown: unknown) => thrown);
  expect(absent).toMatchObject({ status: 404, error: { type: "error", error: { type: "not_found_error" } } });
  const url = `${gateway.url}/v1/files/x:download?key=${KEYS.alice}`;
  const none = (await (await fetch(url)).json()) as { error: { status: string } };
  expect(none.error.status).toBe("NOT_FOUND");
});
