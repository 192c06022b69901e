/** Sessions of OpenAI's SDK over TLS, at a vendor that keeps its own bill. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import { OpenAIRealtimeWS } from "openai/realtime/ws";
import type { Budget } from "../../../ledger/policy.ts";
import { budgetAccount } from "../../../ledger/record.ts";
import { CHARGE_STATES } from "../../../ledger/charge.ts";
import { type BookedGateway, startBooked } from "../../../../test/helpers/books.ts";
import { FIRST } from "../../../../test/helpers/certificates.ts";
import { budget } from "../../../../test/helpers/ledger.ts";
import { startVendor, type Vendor } from "./support/vendor.ts";

setDefaultTimeout(60_000);

const KEY = "weir_sk_realtimecanary0123456789abcdefghijklmnop";
const ALL = budgetAccount("all", 0);

const running: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const started of running.splice(0).toReversed()) await started.stop();
});

interface Place {
  vendor: Vendor;
  gateway: BookedGateway;
  /** `https://127.0.0.1:PORT` */
  url: string;
}

async function start(more: object = {}, budgets: readonly Budget[] = []): Promise<Place> {
  const vendor = startVendor();
  running.push(vendor);
  const folder = await mkdtemp(join(tmpdir(), "weir-realtime-"));
  await writeFile(join(folder, "cert.pem"), FIRST.cert);
  await writeFile(join(folder, "key.pem"), FIRST.key);
  running.push({ stop: () => rm(folder, { recursive: true, force: true }) });
  const gateway = await startBooked(
    {
      tls: { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") },
      keys: [{ name: "voice", key: KEY }],
      providers: { openai: { baseUrl: `${vendor.url}/v1`, apiKey: "upstream-canary-key" } },
      ...more,
    },
    budgets,
  );
  running.push(gateway);
  return { vendor, gateway, url: gateway.url.replace("http:", "https:") };
}

interface Talk {
  rt: OpenAIRealtimeWS;
  got: string[];
  errors: string[];
  closed: Promise<[code: number, reason: string]>;
}

async function talk({ url }: Pick<Place, "url">, model = "gpt-realtime", key = KEY): Promise<Talk> {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
  const rt = new OpenAIRealtimeWS({ model, options: { rejectUnauthorized: false } }, client);
  const got: string[] = [];
  const errors: string[] = [];
  const opened = Promise.withResolvers<void>();
  const closed = new Promise<[number, string]>((resolve) =>
    rt.socket.on("close", (code: number, reason: Buffer) => resolve([code, String(reason)])),
  );
  rt.socket.on("message", (frame: Buffer) => void got.push(String(frame)));
  rt.socket.on("open", () => opened.resolve());
  rt.on("error", (error) => {
    errors.push(error.message);
    opened.reject(error);
  });
  await opened.promise;
  return { rt, got, errors, closed };
}

async function until(holds: () => boolean, what: string): Promise<void> {
  for (let waited = 0; !holds(); waited += 5) {
    if (waited > 20_000) throw new Error(`waited in vain: ${what}`);
    await Bun.sleep(5);
  }
}

const doneIn = (got: readonly string[]) => got.filter((event) => event.includes('"response.done"')).length;

/** Closes without a wait for the vendor. */
function leave({ rt }: Talk): void {
  rt.close();
}

test("200 events pass both ways byte for byte", async () => {
  const place = await start();
  const { vendor } = place;
  const back: string[] = [];
  vendor.script = (event, session) => {
    const answer = `{"type":"conversation.item.input_audio_transcription.delta" , "delta":"\\u00e4${"ö🙂".repeat(Number(event["n"]) % 50)}","n":${String(event["n"])}}`;
    back.push(answer);
    session.send(answer);
    return true;
  };
  const one = await talk(place);
  await until(() => one.got.length === 1, "session.created");
  const sent = Array.from(
    { length: 200 },
    (_, n) => `{ "n":${n},"type" : "conversation.item.retrieve","item_id":"ä\\u00fc${"x".repeat(n * 37)}" }`,
  );
  for (const frame of sent) one.rt.socket.send(frame);
  await until(() => one.got.length === 201, "200 answers");
  expect(vendor.sessions[0]!.got).toEqual(sent);
  expect(one.got.slice(1)).toEqual(back);
  expect(vendor.sessions[0]!.url).toBe("/v1/realtime?model=gpt-realtime");
  expect(vendor.sessions[0]!.headers.get("authorization")).toBe("Bearer upstream-canary-key");
  leave(one);
});

test("50 answers with cached audio are charged to the nano-dollar, each with a record", async () => {
  const place = await start({}, [budget("all", 50_000_000_000)]);
  const one = await talk(place);
  for (let number = 1; number <= 50; number++) {
    one.rt.send({ type: "response.create" });
    await until(() => doneIn(one.got) === number, `answer ${number}`);
  }
  leave(one);
  await until(() => place.vendor.sessions[0]!.closed !== undefined, "the vendor's end");
  const { calls, spent } = await place.gateway.finish();
  const answers = calls.filter(({ status }) => status === 200);
  expect(answers).toHaveLength(50);
  expect(new Set(answers.map(({ state }) => CHARGE_STATES[state]))).toEqual(new Set(["metered"]));
  expect(answers.reduce((sum, { cost }) => sum + cost, 0)).toBe(place.vendor.bill);
  expect(spent.get(ALL)).toBe(place.vendor.bill);
  // The session itself costs nothing.
  expect(calls.filter(({ status }) => status === 101)).toMatchObject([{ cost: 0 }]);
});

test("a budget that ends in mid-session is an error event, a cancellation and 1008, and is not passed", async () => {
  // Room for some answers of at most 200 tokens of audio.
  const limit = 60_000_000;
  const place = await start({}, [budget("all", limit)]);
  const { vendor } = place;
  const one = await talk(place);
  vendor.script = (event, session) => {
    if (event["type"] === "response.create" && event["event_id"] === "slow") {
      session.send(JSON.stringify({ type: "response.created", response: { id: "slow" } }));
      return true;
    }
    if (event["type"] !== "response.cancel") return false;
    vendor.answer(session, "slow", {
      text: 10,
      audio: 0,
      image: 0,
      cachedText: 0,
      cachedAudio: 0,
      outText: 5,
      outAudio: 0,
    });
    return true;
  };
  one.rt.send({ type: "response.create", event_id: "slow" });
  for (let number = 0; number < 60 && one.rt.socket.readyState === 1; number++) {
    one.rt.send({ type: "response.create" });
    await Bun.sleep(10);
  }
  expect(await one.closed).toEqual([1008, "budget_exceeded"]);
  const error = JSON.parse(one.got.at(-1)!) as { error: Record<string, unknown> };
  expect(error).toMatchObject({
    type: "error",
    error: { type: "insufficient_quota", code: "budget_exceeded" },
  });
  await until(() => vendor.sessions[0]!.closed !== undefined, "the vendor's end");
  expect(vendor.sessions[0]!.got.at(-1)).toBe('{"type":"response.cancel","response_id":"slow"}');
  const { calls, spent } = await place.gateway.finish();
  expect(spent.get(ALL)).toBe(vendor.bill);
  expect(vendor.bill).toBeLessThanOrEqual(limit);
  expect(vendor.bill).toBeGreaterThan(0);
  expect(calls.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(1);
});

test("a client that leaves during an answer has it cancelled, and pays what the vendor counts", async () => {
  const place = await start({}, [budget("all", 50_000_000_000)]);
  const { vendor } = place;
  vendor.script = (event, session) => {
    if (event["type"] === "response.create")
      session.send(JSON.stringify({ type: "response.created", response: { id: "r" } }));
    if (event["type"] === "response.cancel")
      vendor.answer(session, "r", {
        text: 100,
        audio: 50,
        image: 0,
        cachedText: 0,
        cachedAudio: 0,
        outText: 9,
        outAudio: 80,
      });
    return true;
  };
  const one = await talk(place);
  one.rt.send({ type: "response.create" });
  await until(() => one.got.some((event) => event.includes("response.created")), "the answer's beginning");
  one.rt.socket.terminate();
  await until(() => vendor.sessions[0]!.closed !== undefined, "the vendor's end");
  const { spent } = await place.gateway.finish();
  expect(vendor.bill).toBeGreaterThan(0);
  expect(spent.get(ALL)).toBe(vendor.bill);
});

test("a vendor that leaves during an answer: its close code passes, and the answer is assumed", async () => {
  const place = await start({}, [budget("all", 50_000_000_000)]);
  place.vendor.script = (event, session) => {
    if (event["type"] === "response.create") {
      session.send(JSON.stringify({ type: "response.created", response: { id: "r" } }));
      session.close(4001, "session expired");
    }
    return true;
  };
  const one = await talk(place);
  one.rt.send({ type: "response.create" });
  expect(await one.closed).toEqual([4001, "session expired"]);
  const { calls } = await place.gateway.finish();
  const assumed = calls.filter(({ state }) => CHARGE_STATES[state] === "assumed");
  expect(assumed).toHaveLength(1);
  expect(assumed[0]!.cost).toBeGreaterThan(0);
});

test("keys are in no log, whichever way they come", async () => {
  const place = await start();
  const { url, gateway } = place;
  const protocols = ["realtime", `openai-insecure-api-key.${KEY}`];
  const browser = new WebSocket(`${url.replace("https", "wss")}/v1/realtime?model=gpt-realtime`, {
    ...{ protocols, tls: { rejectUnauthorized: false } },
  } as never);
  await new Promise((resolve, reject) => {
    browser.onopen = resolve;
    browser.onerror = reject;
  });
  expect(browser.protocol).toBe("realtime");
  browser.close();
  const options = { tls: { rejectUnauthorized: false } };
  const refused = await fetch(`${url}/v1/realtime?model=gpt-realtime&api_key=${KEY}`, options);
  expect([refused.status, await refused.text()]).toEqual([
    400,
    expect.stringContaining("credential_in_query"),
  ]);
  const wrong = await fetch(`${url}/v1/realtime?model=gpt-realtime`, {
    ...options,
    headers: { "sec-websocket-protocol": `realtime, openai-insecure-api-key.${KEY}x` },
  });
  expect(wrong.status).toBe(401);
  await until(() => place.vendor.sessions[0]?.closed !== undefined, "the vendor's end");
  await gateway.finish();
  expect(gateway.log.join("\n")).not.toContain(KEY);
  expect(gateway.log.join("\n")).not.toContain("upstream-canary-key");
});
