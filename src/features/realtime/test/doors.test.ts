/** Who gets a session, and who is refused with which words. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import OpenAI from "openai";
import { startGateway, type RunningGateway } from "../../../../test/helpers/gateway.ts";
import { startVendor, type Vendor } from "./support/vendor.ts";

setDefaultTimeout(60_000);

const KEY = "weir_sk_voicekey0123456789abcdefghijklmnopqrst";
const CHAT_ONLY = "weir_sk_chatonly0123456789abcdefghijklmnopqrs";

const running: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const started of running.splice(0).toReversed()) await started.stop();
});

async function start(more: object = {}): Promise<{ vendor: Vendor; gateway: RunningGateway }> {
  const vendor = startVendor();
  const gateway = await startGateway({
    config: {
      keys: [
        { name: "voice", key: KEY },
        { name: "chat", key: CHAT_ONLY, endpoints: ["chat-completions"] },
      ],
      providers: { openai: { baseUrl: `${vendor.url}/v1`, apiKey: "upstream-key" } },
      ...more,
    },
  });
  running.push(vendor, gateway);
  await gateway.opened();
  return { vendor, gateway };
}

interface Opened {
  socket: WebSocket;
  got: Record<string, unknown>[];
  closed: Promise<[number, string]>;
}

/** @throws Error if it is refused */
async function open(
  { url }: { url: string },
  query: string,
  { key = KEY, path = "/v1/realtime", headers = {}, protocols = [] as string[] } = {},
): Promise<Opened> {
  const credential = key === "" || protocols.length > 0 ? {} : { authorization: `Bearer ${key}` };
  const options = { headers: { ...credential, ...headers }, ...(protocols.length > 0 && { protocols }) };
  const socket = new WebSocket(`${url.replace("http", "ws")}${path}${query}`, options as never);
  const got: Record<string, unknown>[] = [];
  socket.onmessage = ({ data }) => void got.push(JSON.parse(String(data)) as Record<string, unknown>);
  const closed = new Promise<[number, string]>((resolve) => {
    socket.onclose = ({ code, reason }) => resolve([code, reason]);
  });
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error("refused"));
  });
  return { socket, got, closed };
}

/** The answer to an upgrade that is refused. */
async function refusal(gateway: { url: string }, target: string, headers: Record<string, string> = {}) {
  return (await refused(gateway, target, headers)).slice(0, 2);
}

/** Status, code and message. */
async function refused({ url }: { url: string }, target: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}${target}`, {
    headers: { authorization: `Bearer ${KEY}`, ...headers },
  });
  const { error } = (await response.json()) as { error: { code: string | null; message: string } };
  return [response.status, error.code, error.message] as const;
}

async function until(holds: () => boolean, what: string): Promise<void> {
  for (let waited = 0; !holds(); waited += 5) {
    if (waited > 20_000) throw new Error(`waited in vain: ${what}`);
    await Bun.sleep(5);
  }
}

const secretOf = (gateway: RunningGateway, body: object, key = KEY) =>
  new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 }).realtime.clientSecrets.create(
    body as never,
  );

test("a client secret opens one session, with its settings and at no other model", async () => {
  const { gateway, vendor } = await start();
  const made = await secretOf(gateway, {
    expires_after: { anchor: "created_at", seconds: 7200 },
    session: { type: "realtime", model: "gpt-realtime", instructions: "Be brief." },
  });
  expect(made.value).toStartWith("ek_");
  expect(made.expires_at - Date.now() / 1000).toBeLessThanOrEqual(600);
  expect(made.session).toMatchObject({ type: "realtime", model: "gpt-realtime", instructions: "Be brief." });
  const protocols = ["realtime", `openai-insecure-api-key.${made.value}`];
  await expect(open(gateway, "?model=gpt-realtime-mini", { protocols })).rejects.toThrow("refused");
  const one = await open(gateway, "?model=gpt-realtime", { protocols });
  expect(one.socket.protocol).toBe("realtime");
  await until(() => vendor.sessions[0]?.got.length === 1, "the settings");
  expect(JSON.parse(vendor.sessions[0]!.got[0]!)).toEqual({
    type: "session.update",
    session: { type: "realtime", instructions: "Be brief." },
  });
  expect(vendor.sessions[0]!.headers.get("authorization")).toBe("Bearer upstream-key");
  await expect(open(gateway, "?model=gpt-realtime", { protocols })).rejects.toThrow("refused");
  const headers = { "sec-websocket-protocol": protocols.join(", ") };
  expect(await refusal(gateway, "/v1/realtime?model=gpt-realtime", headers)).toMatchObject([
    401,
    "invalid_client_secret",
  ]);
  one.socket.close();
  expect(gateway.log.join("\n")).not.toContain(made.value);
});

test("a client secret names its model, and lives from 10 seconds on", async () => {
  const { gateway } = await start();
  const fault = (body: object, key?: string) => secretOf(gateway, body, key).then(String, String);
  expect(await fault({})).toContain("session.model");
  const session = { type: "realtime", model: "gpt-realtime" };
  expect(await fault({ session, expires_after: { seconds: 9 } })).toContain("at least 10");
  expect(await fault({ session }, CHAT_ONLY)).toContain("endpoint realtime");
});

test("what is wrong with a session is a status before the upgrade", async () => {
  const { gateway } = await start();
  const { url } = gateway;
  const at = (target: string, headers?: Record<string, string>) => refusal({ url }, target, headers);
  expect(await at("/v1/realtime?model=gpt-realtime", { authorization: "Bearer wrong" })).toEqual([
    401,
    expect.anything(),
  ]);
  expect(await at("/v1/realtime?model=gpt-realtime", { authorization: `Bearer ${CHAT_ONLY}` })).toMatchObject(
    [403, "endpoint_not_allowed"],
  );
  expect(await at("/v1/realtime")).toEqual([400, null]);
  expect(await at("/v1/realtime?model=a&intent=transcription")).toEqual([400, null]);
  expect(await at("/v1/realtime?call_id=rtc_1")).toMatchObject([403, "realtime_unmetered"]);
  expect(await at("/v1/realtime?intent=transcription")).toEqual([400, null]);
  const [status, code, message] = await refused({ url }, "/v1/realtime?model=openai/gpt-4.1");
  expect([status, code]).toEqual([404, "model_not_found"]);
  expect(message).toContain("holds no sessions with the model `openai/gpt-4.1`");
  expect(await at("/v1/realtime?model=gpt-realtime")).toEqual([426, null]);
});

test("a request for text to a model of sessions names the WebSocket", async () => {
  const { gateway } = await start();
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    ...{ method: "POST", headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" } },
    body: JSON.stringify({ model: "openai/gpt-realtime", messages: [{ role: "user", content: "hi" }] }),
  });
  expect(response.status).toBe(404);
  expect(await response.text()).toContain("open a WebSocket at /v1/realtime?model=openai/gpt-realtime");
});

test("calls by WebRTC and SIP are refused with the reason", async () => {
  const { gateway } = await start();
  for (const path of [
    "/v1/realtime/calls",
    ...["accept", "hangup", "refer", "reject"].map((end) => `/v1/realtime/calls/rtc_1/${end}`),
  ]) {
    const response = await fetch(`${gateway.url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}` },
      body: "v=0",
    });
    expect([path, response.status]).toEqual([path, 403]);
    expect(await response.text()).toContain("would go around weir");
  }
});

test("Azure's form: its path and its header", async () => {
  const { gateway, vendor } = await start();
  const one = await open(gateway, "?model=gpt-realtime", {
    key: "",
    path: "/openai/v1/realtime",
    headers: { "api-key": KEY },
  });
  await until(() => one.got.length === 1, "session.created");
  expect(vendor.sessions).toHaveLength(1);
  one.socket.close();
});

test("a route falls back while the session is not open, and a vendor's refusal is the error of weir", async () => {
  const second = startVendor();
  running.push(second);
  const { gateway, vendor } = await start({
    fallbacks: { "gpt-realtime": ["other/talk"] },
    providers: {
      openai: { baseUrl: "http://127.0.0.1:9/v1", apiKey: "upstream-key" },
      other: {
        baseUrl: second.url,
        models: ["talk"],
        does: { realtime: { "openai-realtime": "/v1/realtime" } },
      },
    },
  });
  const one = await open(gateway, "?model=gpt-realtime");
  await until(() => one.got.length === 1, "session.created");
  expect([vendor.sessions.length, second.sessions[0]!.url]).toEqual([0, "/v1/realtime?model=talk"]);
  one.socket.close();
  second.refuses = 503;
  expect((await refusal(gateway, "/v1/realtime?model=gpt-realtime"))[0]).toBeGreaterThanOrEqual(500);
});

test("the mock talks, and fails as its models fail", async () => {
  const { gateway } = await start();
  const one = await open(gateway, "?model=mock/realtime");
  one.socket.send(
    JSON.stringify({
      type: "conversation.item.create",
      item: { type: "message", role: "user", content: [{ type: "input_text", text: "hello" }] },
    }),
  );
  one.socket.send(JSON.stringify({ type: "response.create" }));
  await until(() => one.got.some(({ type }) => type === "response.done"), "the answer");
  expect(JSON.stringify(one.got.at(-1))).toContain("You said: hello");
  one.socket.send(
    JSON.stringify({ type: "input_audio_buffer.append", audio: Buffer.alloc(9600, 7).toString("base64") }),
  );
  one.socket.send(
    JSON.stringify({ type: "input_audio_buffer.append", audio: Buffer.alloc(9600).toString("base64") }),
  );
  await until(
    () => one.got.filter(({ type }) => type === "response.done").length === 2,
    "the answer to speech",
  );
  expect(JSON.stringify(one.got.at(-1))).toContain("4 tokens of audio");
  one.socket.close();
  expect(await refusal(gateway, "/v1/realtime?model=mock/error-429")).toEqual([429, expect.anything()]);
  expect(await refusal(gateway, "/v1/realtime?model=mock/error-503")).toEqual([503, expect.anything()]);
});

test("the sessions of a key are limited, and one that ends makes room", async () => {
  const { gateway } = await start({ realtime: { perKey: 2 } });
  const all = [await open(gateway, "?model=mock/realtime"), await open(gateway, "?model=mock/realtime")];
  expect(await refusal(gateway, "/v1/realtime?model=mock/realtime")).toMatchObject([
    429,
    "too_many_sessions",
  ]);
  all[0]!.socket.close();
  await all[0]!.closed;
  await Bun.sleep(50);
  all.push(await open(gateway, "?model=mock/realtime"));
  for (const { socket } of all) socket.close();
});

test("a session that lasts too long ends with an error event and 1008", async () => {
  const { gateway } = await start({ realtime: { sessionMs: 600 } });
  const one = await open(gateway, "?model=mock/realtime");
  const [code] = await one.closed;
  expect(code).toBe(1008);
  expect(one.got.at(-1)).toMatchObject({
    type: "error",
    error: { code: "timeout" },
  });
});

test("realtime that is off serves no sessions", async () => {
  const { gateway } = await start({ realtime: { enabled: false } });
  expect(await refusal(gateway, "/v1/realtime?model=mock/realtime")).toEqual([404, expect.anything()]);
});

test("a caller whose requests guards inspect gets no session, unless the operator says so", async () => {
  const guards = { pii: { find: ["email"], do: "mask", keys: ["voice"] } };
  const { gateway } = await start({ guards });
  expect(await refusal(gateway, "/v1/realtime?model=mock/realtime")).toEqual([403, "realtime_uninspected"]);
  const other = await start({ guards, realtime: { unguarded: true } });
  const one = await open(other.gateway, "?model=mock/realtime");
  one.socket.close();
});

test("a plugin file brings a host with sessions", async () => {
  const vendor = startVendor();
  const plugin = `export default { name: "acme", providers: [{ name: "acme", baseUrl: "${vendor.url}/v2", apiKey: "ACME_API_KEY",
    models: ["talk"], does: { realtime: { "openai-realtime": "/talk" } } }] };`;
  const gateway = await startGateway({
    config: { keys: [{ name: "voice", key: KEY }] },
    env: { ACME_API_KEY: "acme-canary-key" },
    plugins: { "acme.ts": plugin },
  });
  running.push(vendor, gateway);
  const one = await open(gateway, "?model=acme/talk");
  await until(() => one.got.length === 1, "session.created");
  expect(vendor.sessions[0]!.url).toBe("/v2/talk?model=talk");
  expect(vendor.sessions[0]!.headers.get("authorization")).toBe("Bearer acme-canary-key");
  one.socket.close();
  const listed = (await (
    await fetch(`${gateway.url}/v1/models/acme/talk`, { headers: { authorization: `Bearer ${KEY}` } })
  ).json()) as object;
  expect(listed).toMatchObject({ does: ["realtime"] });
});

test("a vendor's refusal has its kind, its time and its words", async () => {
  const { gateway, vendor } = await start({ retries: { attempts: 1 } });
  vendor.refuses = 429;
  const limited = await fetch(`${gateway.url}/v1/realtime?model=gpt-realtime`, {
    headers: { authorization: `Bearer ${KEY}` },
  });
  expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, "7"]);
  expect(await limited.text()).toContain("the vendor's own words");
  vendor.refuses = 401;
  expect(await refusal(gateway, "/v1/realtime?model=gpt-realtime")).toMatchObject([502, expect.anything()]);
});
