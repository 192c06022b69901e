/** weir's span of a call of a tool is between those of the client and of the server. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type RunningGateway, startGateway, TARGET } from "../../../../test/helpers/gateway.ts";
import { startReceiver } from "../../../../test/helpers/telemetry.ts";
import type { JsonObject } from "../../../core/json.ts";
import { type Model, startModel } from "./loop/model.ts";
import { LegacyClient, ModernClient } from "./support/clients.ts";
import { type FakeServer, fakeServer, text } from "./support/servers.ts";

setDefaultTimeout(60_000);

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const BELOW = new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`);
const PARENT = { traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: "vendor=1", baggage: "user=7" };

/** `_meta` of the last call, as servers got it. */
let meta: JsonObject = {};
let model: Model;
let traced: RunningGateway;
let plain: RunningGateway;
const servers: Record<string, FakeServer> = {};
const receiver = startReceiver();

beforeAll(async () => {
  const look = ({ params }: { params: JsonObject }) => {
    meta = (params["_meta"] ?? {}) as JsonObject;
    return text("seen");
  };
  servers["modern"] = fakeServer("modern", { look });
  servers["legacy"] = fakeServer("legacy", {
    look,
    async think(call) {
      look(call);
      const messages = [{ role: "user", content: { type: "text", text: "Tea?" } }];
      await call.ask("sampling/createMessage", { messages, maxTokens: 5 });
      return text("thought");
    },
  });
  model = startModel(({ results }) =>
    results.length > 0 ? { text: "done" } : { calls: [{ name: "modern__look" }] },
  );
  const allow = ["*"];
  const named = Object.entries(servers).map(([name, { url }]) => [name, { url, allow }] as const);
  const sampling = { model: "chat-completions/m", allow: ["legacy"] };
  const config = { providers: model.providers, tools: { servers: Object.fromEntries(named), sampling } };
  const target = TARGET === "source" ? "process" : TARGET;
  traced = await startGateway({ target, config: { ...config, traces: { to: receiver.url } } });
  plain = await startGateway({ target, config });
});

afterAll(async () => {
  await traced?.stop();
  await plain?.stop();
  for (const one of [...Object.values(servers), model, receiver]) one?.stop();
});

/** @returns what the server got in `_meta` of W3C Trace Context */
async function look(era: string, server: string, given: JsonObject, { url } = traced, tool = "look") {
  meta = {};
  const at = `${url}/mcp/${server}`;
  if (era === "modern") await new ModernClient({ url: at }).call(tool, {}, { meta: given });
  else await (await LegacyClient.open({ url: at })).call(tool, {}, given);
  const { traceparent, tracestate, baggage } = meta;
  return { traceparent, tracestate, baggage };
}

const spanIn = ({ traceparent }: { traceparent?: unknown }) => String(traceparent).split("-")[2]!;
/** Spans of servers, and of what must be above them: name of the span of weir, and span of the client. */
const expected: { span: string; trace: string; name: string; client: string | undefined }[] = [];

describe.each(["modern", "legacy"])("a %s client", (era) => {
  test.each(["modern", "legacy"])("and a %s server have weir's span between them", async (server) => {
    const got = await look(era, server, PARENT);
    expect(got).toEqual({ ...PARENT, traceparent: expect.stringMatching(BELOW) });
    expect(spanIn(got)).not.toBe(SPAN);
    expected.push({ span: spanIn(got), trace: TRACE, name: `execute_tool ${server}__look`, client: SPAN });
  });

  test.each(["modern", "legacy"])("without a trace begins one with a call at a %s server", async (server) => {
    for (const given of [{}, { traceparent: "nonsense\n", tracestate: "lost=1" }, { traceparent: 7 }]) {
      const got = await look(era, server, given as JsonObject);
      expect(got.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
      expect(got.tracestate).toBeUndefined();
      const trace = String(got.traceparent).split("-")[1]!;
      expected.push({ span: spanIn(got), trace, name: `execute_tool ${server}__look`, client: undefined });
    }
  });

  test.each(["modern", "legacy"])("that records nothing is passed on to a %s server", async (server) => {
    const given = { ...PARENT, traceparent: `00-${TRACE}-${SPAN}-00` };
    expect(await look(era, server, given)).toEqual(given);
  });

  test.each(["modern", "legacy"])(
    "reaches a %s server as it came where weir has no traces",
    async (server) => {
      expect(await look(era, server, PARENT, plain)).toEqual(PARENT);
      expect(Object.values(await look(era, server, {}, plain))).toEqual([undefined, undefined, undefined]);
    },
  );
});

test("headers of the request over HTTP count where the message has no trace", async () => {
  const client = new ModernClient({ url: `${traced.url}/mcp/modern` });
  const { traceparent, tracestate } = PARENT;
  await client.call("look", {}, { headers: { traceparent, tracestate } });
  expect(meta).toMatchObject({ tracestate, traceparent: expect.stringMatching(BELOW) });
  await client.call("look", {}, { headers: { traceparent, tracestate }, meta: { traceparent: "other" } });
  expect(String(meta["traceparent"])).not.toContain(TRACE);
  expect(meta["tracestate"]).toBeUndefined();
});

test("a tool that a model calls is in the trace of the client, and so is the model that a server asks", async () => {
  const asked = {
    model: "chat-completions/m",
    messages: [{ role: "user", content: "Look!" }],
    tools: [{ type: "mcp", server_label: "s", server_url: "weir/modern", require_approval: "never" }],
  };
  const { traceparent } = PARENT;
  const got = await fetch(`${traced.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", traceparent },
    body: JSON.stringify(asked),
  });
  expect(got.status).toBe(200);
  expect(String(meta["traceparent"])).toStartWith(`00-${TRACE}-`);
  const loop = spanIn(meta);
  const thinking = spanIn(await look("modern", "legacy", PARENT, traced, "think"));
  await traced.stop();

  const spans = receiver.spans();
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  for (const { span, trace, name, client } of expected) {
    const own = byId.get(span)!;
    const call = byId.get(own.parentSpanId!)!;
    expect([own.name, own.traceId, call.name]).toEqual([name, trace, "POST /mcp"]);
    expect(call.parentSpanId || undefined).toBe(client);
  }
  expect(byId.get(loop)).toMatchObject({ name: "execute_tool modern__look", traceId: TRACE });
  const tool = byId.get(thinking)!;
  const below = spans.filter(({ parentSpanId }) => parentSpanId === tool.parentSpanId);
  expect(below.map(({ name }) => name).toSorted()).toEqual([
    "ask chat-completions/m",
    "execute_tool legacy__think",
  ]);
});
