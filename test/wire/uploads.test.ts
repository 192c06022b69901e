/** Forms with files: they reach a host byte for byte, however they come. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { connect } from "node:net";
import type { JsonObject } from "../../src/core/json.ts";
import { type BookedGateway, startBooked } from "../helpers/books.ts";
import { json, silence, startUpstream, type Upstream, until } from "../helpers/upstream.ts";

setDefaultTimeout(120_000);

const USAGE = {
  ...{ input_tokens: 10, input_tokens_details: { text_tokens: 4, image_tokens: 6 } },
  ...{ output_tokens: 100, total_tokens: 110 },
};
const ANSWER = { created: 1, data: [{ b64_json: "aGk=" }], usage: USAGE };

let openai: Upstream;
let gateway: BookedGateway;

beforeAll(async () => {
  openai = startUpstream(() => json(ANSWER));
  gateway = await startBooked({
    providers: { openai: { apiKey: "k", baseUrl: `${openai.url}/v1` } },
    prices: { "openai/gpt-image-1.5": { input: 5, imageIn: 8, output: 10, imageOut: 32 } },
    retries: { attempts: 1 },
  });
});
afterAll(async () => {
  await gateway.stop();
  openai.stop();
});

const below = (most: number) => Math.floor(Math.random() * most);

function random(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  return bytes;
}

interface Part {
  head: string;
  bytes: Buffer;
}

const text = (name: string, value: string): Part => ({ head: `name="${name}"`, bytes: Buffer.from(value) });
const file = (name: string, bytes: Buffer): Part => ({
  head: `name="${name}"; filename="${below(1000)}.png"\r\nContent-Type: image/png`,
  bytes,
});

function written(parts: readonly Part[], boundary: string, end = "\r\n"): Buffer {
  return Buffer.concat([
    ...parts.flatMap(({ head, bytes }) => [
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n`),
      bytes,
      Buffer.from("\r\n"),
    ]),
    Buffer.from(`--${boundary}--${end}`),
  ]);
}

const shuffled = <Item>(list: readonly Item[]) =>
  list
    .map((item) => ({ item, at: Math.random() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ item }) => item);

const send = (body: Buffer, boundary: string) =>
  fetch(`${gateway.url}/v1/images/edits`, {
    method: "POST",
    headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
    body: body as unknown as BodyInit,
  });

/** What the host got last for a boundary that only one request has. */
const gotFor = (boundary: string) =>
  openai.requests.findLast(({ headers }) => headers.get("content-type")!.includes(boundary))!;

test("1,000 random forms reach the host with one name changed", async () => {
  const one = async (round: number) => {
    const boundary = `b${round}-${crypto.randomUUID()}`;
    const near = [`\r\n--${boundary.slice(0, -1)}`, "\r\n--", "\r", "--\r\n"];
    const files = Array.from({ length: 1 + below(5) }, () => {
      const bytes = random(round % 50 === 0 ? 900_000 : below(3000));
      return file(
        ["image", "image[]", `image[${below(9)}]`][below(3)]!,
        Buffer.concat([bytes, Buffer.from(near[below(near.length)]!)]),
      );
    });
    const model = ["openai/gpt-image-1.5", "gpt-image-1.5"][below(2)]!;
    const rest = shuffled([
      ...files,
      text("prompt", `a ${round} ü`),
      text("quality", "high"),
      text("n", "2"),
    ]);
    const place = below(rest.length + 1);
    const parts = (named: string) => [...rest.slice(0, place), text("model", named), ...rest.slice(place)];
    const response = await send(written(parts(model), boundary), boundary);
    expect([round, response.status]).toEqual([round, 200]);
    await response.arrayBuffer();
    const got = gotFor(boundary);
    const wanted = written(parts("gpt-image-1.5"), boundary);
    expect(got.body.equals(wanted)).toBe(true);
    expect(got.headers.get("content-length")).toBe(String(wanted.length));
    expect(got.headers.get("content-type")).toBe(`multipart/form-data; boundary=${boundary}`);
  };
  for (let round = 0; round < 1000; round += 10) {
    await Promise.all(Array.from({ length: 10 }, (_, index) => one(round + index)));
    openai.requests.length = 0;
  }
});

/** One request on a bare socket. @returns the answer until the connection ends or a whole JSON body has come */
function raw(pieces: readonly (Buffer | string)[], pause = 0): Promise<string> {
  const { port } = new URL(gateway.url);
  return new Promise((resolve, reject) => {
    let got = "";
    const socket = connect(Number(port), "127.0.0.1", async () => {
      for (const piece of pieces) {
        socket.write(piece);
        if (pause > 0) await Bun.sleep(pause);
      }
    });
    socket.on("data", (bytes) => {
      got += bytes.toString("latin1");
      if (/\r\n\r\n[^]*\}\s*$/.test(got) || /\r\n0\r\n\r\n$/.test(got)) socket.destroy();
    });
    socket.on("close", () => resolve(got));
    socket.on("error", reject);
  });
}

const head = (boundary: string, more: string) =>
  `POST /v1/images/edits HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary="${boundary}"\r\n${more}\r\n\r\n`;

const EDIT = [
  text("model", "openai/gpt-image-1.5"),
  file("image", Buffer.alloc(30_000, 7)),
  text("prompt", "a"),
];

test("a body without the last line break, and one in chunks without a length", async () => {
  for (const end of ["\r\n", ""]) {
    const boundary = crypto.randomUUID();
    const body = written(EDIT, boundary, end);
    const chunks = [body.subarray(0, 100), body.subarray(100, 20_000), body.subarray(20_000)];
    const framed = chunks.flatMap((chunk) => [`${chunk.length.toString(16)}\r\n`, chunk, "\r\n"]);
    const answer = await raw([head(boundary, "Transfer-Encoding: chunked"), ...framed, "0\r\n\r\n"], 5);
    expect(answer).toContain("200 OK");
    const wanted = written([text("model", "gpt-image-1.5"), ...EDIT.slice(1)], boundary, end);
    expect(gotFor(boundary).body.equals(wanted)).toBe(true);
  }
});

test("a client that waits for permission to send gets it", async () => {
  const boundary = crypto.randomUUID();
  const body = written(EDIT, boundary);
  const { port } = new URL(gateway.url);
  const answers: string[] = [];
  await new Promise<void>((resolve, reject) => {
    const socket = connect(Number(port), "127.0.0.1", () =>
      socket.write(head(boundary, `Content-Length: ${body.length}\r\nExpect: 100-continue`)),
    );
    socket.on("data", (bytes) => {
      answers.push(bytes.toString("latin1"));
      if (answers.length === 1) socket.write(body);
      if (answers.join("").includes("200 OK")) socket.destroy();
    });
    socket.on("close", () => resolve());
    socket.on("error", reject);
  });
  expect(answers[0]).toStartWith("HTTP/1.1 100 Continue");
  expect(answers.join("")).toContain("HTTP/1.1 200 OK");
});

test("a body that breaks off, and one that is no form, are refused and reach no host", async () => {
  const before = openai.requests.length;
  const boundary = crypto.randomUUID();
  const body = written([...EDIT, file("image", random(3_000_000))], boundary);
  const refused = await send(body.subarray(0, 2_000_000), boundary);
  expect(refused.status).toBe(400);
  expect(((await refused.json()) as { error: JsonObject }).error["message"]).toContain("last boundary");
  await new Promise<void>((resolve) => {
    const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1", () => {
      socket.write(head(boundary, `Content-Length: ${body.length}`));
      socket.write(body.subarray(0, 2_000_000), () => setTimeout(() => socket.destroy(), 50));
    });
    socket.on("close", () => resolve());
  });
  const wrong = await send(Buffer.from("{}"), boundary);
  expect(wrong.status).toBe(400);
  expect(openai.requests.length).toBe(before);
});

test.each([
  [[text("model", "openai/gpt-image-1.5"), file("image", Buffer.from("a"))], "prompt"],
  [[text("model", "openai/gpt-image-1.5"), text("prompt", "a")], "image"],
  [[...EDIT, text("n", "two")], "n"],
  [[...EDIT, text("n", "0")], "n"],
])("a form that lacks something names it: %#", async (parts, param) => {
  const boundary = crypto.randomUUID();
  const response = await send(written(parts, boundary), boundary);
  const { error } = (await response.json()) as { error: JsonObject };
  expect([response.status, error["param"]]).toEqual([400, param]);
});

test("a client that leaves stops the upload at its host", async () => {
  openai.answer(silence);
  const boundary = crypto.randomUUID();
  const leaving = new AbortController();
  const body = written(EDIT, boundary);
  const sending = fetch(`${gateway.url}/v1/images/edits`, {
    ...{ method: "POST", signal: leaving.signal, body: body as unknown as BodyInit },
    headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
  }).catch(() => {});
  await until(
    () => openai.open === 1,
    20_000,
    () => "the request has not come",
  );
  const left = performance.now();
  leaving.abort();
  await openai.quiet(20_000);
  expect(performance.now() - left).toBeLessThan(1000);
  await sending;
  openai.answer(() => json(ANSWER));
});

test("what was counted is booked, and nothing for what reached no host", async () => {
  const { calls } = await gateway.finish();
  // 4 tokens of text at $5, 6 of images at $8, 100 out at $32 a million.
  const whole = calls.filter(({ status }) => status === 200);
  expect(whole.length).toBe(1003);
  expect(new Set(whole.map(({ cost }) => cost))).toEqual(new Set([4 * 5_000 + 6 * 8_000 + 100 * 32_000]));
  expect(calls.filter(({ status, cost }) => status === 400 && cost > 0)).toEqual([]);
});
