/** Spans of calls, as a collector reads them. */
import { expect, test } from "bun:test";
import { recordedName } from "../../../core/printable.ts";
import { NO_USAGE } from "../../../core/events.ts";
import type { CallRecord } from "../../../ledger/record.ts";
import { recordOf } from "../../../ledger/worker/call-record.ts";
import { traceFacts } from "../columns.ts";
import { encodeRequest, encodeSpan } from "../otlp.ts";
import { builtIn } from "../../../../plugins/index.ts";
import { PROVIDERS } from "../conventions.ts";
import { isSampled, spanIdOf, traceIdOf } from "../ids.ts";
import { type SpanOptions, spansOf } from "../spans.ts";
import { readOtlp, type ReadSpan } from "../../../../test/helpers/otlp.ts";
import { callOf } from "../../../../test/helpers/ledger.ts";
import { attemptRecord, callRecord } from "../../../../test/helpers/telemetry.ts";

const OPTIONS: SpanOptions = { share: 1, parent: "respect", keyName: () => "alice" };
const PARENT = { trace: "0af7651916cd43dd8448eb211c80319c", span: "b7ad6b7169203331", sampled: true };
const ROUTE = { method: "POST", path: "/v1/generate", operation: "chat" } as const;

function read(call: CallRecord, options: Partial<SpanOptions> = {}): ReadSpan[] {
  const spans = spansOf(call, { ...OPTIONS, ...options }).map(encodeSpan);
  return readOtlp(encodeRequest([["service.name", "weir"]], { name: "weir", version: "1" }, spans)).spans;
}

test("a collector reads every attribute of a call and its attempts with its type", () => {
  const call = callRecord({
    session: "0123456789abcdef",
    client: "OpenAI/JS 7",
    upstreamId: "req_provider",
    losses: [{ code: "dropped", path: "logit_bias" }],
    unstored: {
      trace: {
        parent: { ...PARENT, state: "vendor=1" },
        route: ROUTE,
        attempts: [
          { at: 1.5, status: 503, what: "503", host: "eu.example", port: 443 },
          {
            at: 40.2,
            firstAt: 90.2,
            status: 200,
            host: "us.example",
            port: 8443,
            maxTokens: 50,
            temperature: 1,
          },
        ],
      },
    },
    attempts: [
      attemptRecord({ class: "status", ms: 30, usage: NO_USAGE, charge: { state: "free", cost: 0 } }),
      attemptRecord({
        deployment: "host/us",
        usage: { ...NO_USAGE, input: 7, cacheRead: 100, cacheWrite: 20, output: 3, reasoning: 2, imageIn: 4 },
      }),
    ],
  });
  const [own, first, second, ...rest] = read(call);
  expect(rest).toEqual([]);
  expect(own).toEqual({
    traceId: PARENT.trace,
    spanId: spanIdOf(call.id),
    parentSpanId: PARENT.span,
    traceState: "vendor=1",
    flags: 0x301,
    name: "POST /v1/generate",
    kind: 2,
    start: 1_800_000_000_000_000_000n,
    end: 1_800_000_000_250_000_000n,
    status: { code: 0, message: "" },
    attributes: {
      "http.request.method": "POST",
      "http.route": "/v1/generate",
      "http.response.status_code": 200,
      "user_agent.original": "OpenAI/JS 7",
      "gen_ai.request.model": "alias",
      "gen_ai.request.stream": true,
      "gen_ai.conversation.id": "0123456789abcdef",
      "weir.call.id": call.id,
      "weir.format": "f",
      "weir.lane": "native",
      "weir.outcome": "complete",
      "weir.losses": ["dropped logit_bias"],
      "weir.key": "alice",
      "weir.path": "/team",
      "weir.attempts": 2,
      "weir.cost.usd": 0.000013,
      "weir.cost.state": "metered",
      "weir.own_ms": 0.4,
    },
  });
  expect(first).toMatchObject({
    parentSpanId: own!.spanId,
    name: "chat model-1",
    kind: 3,
    start: 1_800_000_000_001_500_000n,
    end: 1_800_000_000_031_500_000n,
    status: { code: 2, message: "503" },
    attributes: { "error.type": "503", "server.address": "eu.example", "http.response.status_code": 503 },
  });
  expect(Object.keys(first!.attributes).filter((name) => name.startsWith("gen_ai.usage"))).toEqual([]);
  expect(second!.attributes).toEqual({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "host",
    "gen_ai.request.model": "model-1",
    "gen_ai.request.stream": true,
    "gen_ai.request.max_tokens": 50,
    "gen_ai.request.temperature": 1,
    "gen_ai.conversation.id": "0123456789abcdef",
    "gen_ai.response.finish_reasons": ["stop"],
    "gen_ai.response.time_to_first_chunk": 0.05,
    "gen_ai.usage.input_tokens": 127,
    "gen_ai.usage.cache_read.input_tokens": 100,
    "gen_ai.usage.cache_write.input_tokens": 20,
    "gen_ai.usage.cache_creation.input_tokens": 20,
    "gen_ai.usage.output_tokens": 3,
    "gen_ai.usage.reasoning.output_tokens": 2,
    "gen_ai.usage.image.input_tokens": 4,
    "server.address": "us.example",
    "server.port": 8443,
    "http.response.status_code": 200,
    "weir.call.id": call.id,
    "weir.attempt": 2,
    "weir.provider": "host",
    "weir.deployment": "host/us",
    "weir.lane": "native",
    "weir.class": "answered",
    "weir.upstream.request_id": "req_provider",
    "weir.cost.usd": 0.000013,
    "weir.cost.state": "metered",
    "weir.held.usd": 0.00002,
  });
});

test("the same call has the same ids in every process, and attempts have ids of their own", () => {
  const id = callRecord().id;
  expect(traceIdOf(id)).toBe("02b8d1b7ad51ed6a00fefb3862ecad1a");
  const ids = [0, 1, 2, 3].map((attempt) => spanIdOf(id, attempt));
  expect(new Set(ids).size).toBe(4);
  expect(ids.every((span) => /^[0-9a-f]{16}$/.test(span))).toBe(true);
  expect(traceIdOf("another form")).toMatch(/^[0-9a-f]{32}$/);
});

test("a call that a plugin asks is in the trace of its parent, below the parent's span", () => {
  const parent = callRecord();
  const asked = callRecord({
    id: `${parent.id}.1`,
    unstored: { trace: { within: parent.id, attempts: [{ at: 0 }] } },
  });
  const [above] = read(parent);
  const [own] = read(asked);
  expect([own!.traceId, own!.parentSpanId, own!.kind]).toEqual([above!.traceId, above!.spanId, 1]);
  expect(own!.name).toBe("ask alias");
  const [ofClient] = read({
    ...asked,
    unstored: { trace: { ...traceFacts.in(asked)!, parent: PARENT } },
  });
  expect([ofClient!.traceId, ofClient!.parentSpanId]).toEqual([PARENT.trace, above!.spanId]);
});

test("the client decides whether its trace is recorded, unless weir is to ignore it", () => {
  const call = (sampled: boolean) =>
    callRecord({ unstored: { trace: { parent: { ...PARENT, sampled }, attempts: [] } } });
  expect(read(call(false))).toEqual([]);
  expect(read(call(true), { share: 0 })).toHaveLength(2);
  expect(read(call(true), { share: 0, parent: "ignore" })).toEqual([]);
  const [own] = read(call(false), { parent: "ignore" });
  expect([own!.traceId, own!.parentSpanId]).toEqual([traceIdOf(call(false).id), ""]);
});

test("a share of the traces is recorded, and the same ones everywhere", () => {
  const traces = Array.from({ length: 20_000 }, () => crypto.randomUUID().replaceAll("-", ""));
  for (const share of [0, 0.1, 0.5, 1]) {
    const recorded = traces.filter((trace) => isSampled(trace, share)).length;
    expect(Math.abs(recorded - share * traces.length)).toBeLessThan(300);
  }
});

test("an error of the client is no error of the span; a failed stream is one, although its status is 200", () => {
  const statusOf = (more: Partial<CallRecord>) => read(callRecord({ attempts: [], ...more }))[0]!.status.code;
  expect(statusOf({ outcome: "failed", status: 400, error: { kind: "invalid-request" } })).toBe(0);
  expect(statusOf({ outcome: "cancelled", status: 499 })).toBe(0);
  expect(statusOf({ outcome: "failed", status: 502, error: { kind: "upstream" } })).toBe(2);
  expect(statusOf({ outcome: "failed", status: 200, error: { kind: "upstream" } })).toBe(2);
});

test("a record of a worker whose traces were off has spans all the same", () => {
  expect(read(callRecord({ attempts: [attemptRecord(), attemptRecord()] }))).toHaveLength(3);
});

test("an attempt never ends after its call, and a whole number may be a double", () => {
  const call = callRecord({
    ms: 100,
    ownMs: 2,
    unstored: { trace: { route: ROUTE, attempts: [{ at: 50, temperature: 0 }] } },
  });
  const [own, made] = read(call);
  expect(made!.end).toBe(own!.end);
  expect(encodeSpan(spansOf(call, OPTIONS)[0]!)).toContain('{"key":"weir.own_ms","value":{"doubleValue":2}}');
});

test("every provider with a name of the conventions is one of weir's", () => {
  const known = builtIn.flatMap(({ providers = [] }) => providers.map(({ name }) => name));
  expect([...PROVIDERS.keys()].filter((name) => !known.includes(name))).toEqual([]);
});

test("spans contain no credential that was given as a model", () => {
  const secret = "sk-proj-Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8";
  const record = recordOf(callOf({ model: `openai/${secret}` }), [], Date.now());
  const made = attemptRecord({ model: recordedName(secret) });
  const spans = spansOf({ ...record, attempts: [made] }, OPTIONS);
  expect(spans).toHaveLength(2);
  expect(JSON.stringify(spans)).not.toContain("Ab1Cd2");
  expect(JSON.stringify(spans)).toContain("openai/[credential]");
});
