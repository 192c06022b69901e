/** Exports of Claude Code: taken in any case, and handed on with person and path. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { until } from "../../../../test/helpers/serving.ts";
import {
  json,
  startUpstream,
  type Upstream,
  type UpstreamRequest,
} from "../../../../test/helpers/upstream.ts";
import { withAttributes } from "../claude-code/otlp.ts";
import { personId } from "../people.ts";
import { bearer, IDENTITY, tokenOf } from "./support/signed-in.ts";

setDefaultTimeout(60_000);

let collector: Upstream;
let gateway: RunningGateway;
let plain: RunningGateway;
const taken: UpstreamRequest[] = [];
let status = 200;

beforeAll(async () => {
  collector = startUpstream((request) => {
    taken.push(request);
    return json({}, status);
  });
  const clients = {
    "claude-code": {
      telemetry: `${collector.url}/otel/`,
      telemetryHeaders: { authorization: "Bearer of-collector" },
    },
  };
  gateway = await startGateway({ config: { identity: { ...IDENTITY, clients } } });
  plain = await startGateway({ config: { identity: IDENTITY } });
});

afterAll(async () => {
  await Promise.all([gateway.stop(), plain.stop()]);
  collector.stop();
});

const EXPORT = {
  resourceMetrics: [{ resource: { attributes: [{ key: "a", value: { stringValue: "1" } }] } }, {}],
};

async function send(
  body: BodyInit,
  headers: Record<string, string> = {},
  to = gateway,
  path = "/v1/metrics",
) {
  const token = await tokenOf("alice");
  return fetch(`${to.url}${path}`, { method: "POST", body, headers: { ...bearer(token), ...headers } });
}

const JSON_TYPE = { "content-type": "application/json" };

test("an export reaches the collector with person and path, and never with the token of the person", async () => {
  for (const signal of ["metrics", "logs", "traces"]) {
    taken.length = 0;
    expect((await send(JSON.stringify(EXPORT), JSON_TYPE, gateway, `/v1/${signal}`)).status).toBe(200);
    expect(await until(() => taken.length === 1)).toBe(true);
    const [{ method, path, headers, body }] = taken as [any];
    expect([method, path, headers.get("authorization")]).toEqual([
      "POST",
      `/otel/v1/${signal}`,
      "Bearer of-collector",
    ]);
    const added = [
      { key: "weir.person", value: { stringValue: personId("http://127.0.0.1:9", "alice") } },
      { key: "weir.path", value: { stringValue: "/people/alice" } },
    ];
    const sent = JSON.parse(body.toString());
    expect(sent.resourceMetrics.map((one: any) => one.resource.attributes)).toEqual([
      [...EXPORT.resourceMetrics[0]!.resource!.attributes, ...added],
      added,
    ]);
  }
});

/** A field with a length, as protobuf writes it; short ones only. */
const part = (tag: number, content: Uint8Array | string) => {
  const bytes = Buffer.from(content);
  return Buffer.concat([Buffer.from([tag, bytes.length]), bytes]);
};

test("an export in protobuf gets the attributes in a second resource, which its reader merges", async () => {
  const metric = part(0x12, "scope");
  const body = Buffer.concat([part(0x0a, Buffer.concat([part(0x0a, ""), metric])), part(0x0a, metric)]);
  const resource = part(0x0a, part(0x0a, Buffer.concat([part(0x0a, "k"), part(0x12, part(0x0a, "v"))])));
  expect(Buffer.from(withAttributes(body, false, { k: "v" })!)).toEqual(
    Buffer.concat([
      part(0x0a, Buffer.concat([part(0x0a, ""), metric, resource])),
      part(0x0a, Buffer.concat([metric, resource])),
    ]),
  );
  const long = Buffer.concat([Buffer.from([0x0a, 0xac, 0x02]), Buffer.alloc(300)]);
  expect(withAttributes(long, false, { k: "v" })!.subarray(0, 3)).toEqual(Buffer.from([0x0a, 0xb8, 0x02]));
  for (const broken of [[0x0a], [0x0a, 5, 1], [0x12, 0], [0x0a, 0xff, 0xff, 0xff, 0xff, 0xff], [0x0a, 0x80]])
    expect(withAttributes(Buffer.from(broken), false, {})).toBeUndefined();
});

test("whatever is sent, the answer is 200 and the gateway lives", async () => {
  taken.length = 0;
  const packed = gzipSync(JSON.stringify(EXPORT));
  expect((await send(packed, { ...JSON_TYPE, "content-encoding": "gzip" })).status).toBe(200);
  expect(await until(() => taken.length === 1)).toBe(true);
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
  for (const [body, headers] of [
    ["{", JSON_TYPE],
    ["[]", JSON_TYPE],
    ["", JSON_TYPE],
    ["[".repeat(1_000_000), JSON_TYPE],
    [`{"resourceLogs":${"[".repeat(20_000)}${"]".repeat(20_000)}}`, JSON_TYPE],
    [Buffer.alloc(5 * 1024 * 1024), JSON_TYPE],
    [bomb, { "content-encoding": "gzip" }],
    ["no gzip", { "content-encoding": "gzip" }],
    ["x", { "content-encoding": "br" }],
    [Buffer.from([0x0a, 200]), {}],
  ] as const)
    expect((await send(body, headers)).status).toBe(200);
  expect((await send(JSON.stringify(EXPORT), JSON_TYPE, plain)).status).toBe(200);
  // Places that were taken are free again.
  taken.length = 0;
  for (let sent = 0; sent < 40; sent++) await send("{", JSON_TYPE);
  await send(JSON.stringify(EXPORT), JSON_TYPE);
  expect(await until(() => taken.length === 1)).toBe(true);
  status = 500;
  expect((await send(JSON.stringify(EXPORT), JSON_TYPE)).status).toBe(200);
  expect(
    await until(() => gateway.log.some((line) => line.includes("the collector") && line.includes("500"))),
  ).toBe(true);
  const anonymous = await fetch(`${gateway.url}/v1/metrics`, { method: "POST", body: "{}" });
  expect(anonymous.status).toBe(401);
});
