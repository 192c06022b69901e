/** Goals about what passes: events however they are cut, members nobody knows; and that no key is ever made. */
import { afterAll, beforeAll } from "bun:test";
import fc from "fast-check";
import { SseParser } from "../../src/stream/sse.ts";
import { type RunningGateway, upstreamConfig } from "../helpers/gateway.ts";
import { json, startUpstream, type Upstream } from "../helpers/upstream.ts";
import { startBinary } from "./armour.ts";
import { goal } from "./goals.ts";
import { CHAT, MESSAGES } from "./upstream/index.ts";

let upstream: Upstream;
let gateway: RunningGateway;

beforeAll(async () => {
  upstream = startUpstream(json({}));
  gateway = await startBinary({ config: upstreamConfig({ openai: upstream.url, anthropic: upstream.url }) });
}, 600_000);

afterAll(async () => {
  await gateway?.stop();
  upstream?.stop();
});

/** The events of a whole text, read as the standard puts it and as slowly as it likes. */
function eventsOf(text: string): string[] {
  const events: string[] = [];
  let name = "";
  let data: string[] = [];
  const lines = text.replace(/^\ufeff/, "").split(/\r\n|\r|\n/);
  for (const line of lines.slice(0, -1)) {
    if (line === "") {
      if (data.length > 0) events.push(`${name}|${data.join("\n")}`);
      name = "";
      data = [];
      continue;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (colon === 0) continue;
    if (field === "data") data.push(value);
    if (field === "event") name = value;
  }
  return events;
}

goal(
  6,
  "events are the same however the bytes are cut",
  "100,000 runs, 0 failures",
  () => {
    const piece = fc.constantFrom(
      "data: a",
      "data:b",
      "data: ü🙂",
      "data",
      "event: x",
      ": c",
      "id: 1",
      "retry: 5",
      "",
      "",
      "noise",
      'data: {"a":1}',
    );
    const ending = fc.constantFrom("\n", "\r\n", "\r");
    const texts = fc
      .tuple(fc.boolean(), fc.array(fc.tuple(piece, ending), { maxLength: 12 }))
      .map(([bom, lines]) => (bom ? "\ufeff" : "") + lines.map(([line, end]) => line + end).join(""));
    const runs = 100_000;
    fc.assert(
      fc.property(texts, fc.array(fc.nat(200), { maxLength: 5 }), (text, cuts) => {
        const bytes = Buffer.from(text);
        const parser = new SseParser();
        const edges = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
        const found = edges.flatMap((end, at) =>
          parser
            .push(bytes.subarray(edges[at - 1] ?? 0, end))
            .map((frame) => `${frame.event ?? ""}|${frame.data}`),
        );
        const wanted = eventsOf(text);
        if (JSON.stringify(found) !== JSON.stringify(wanted))
          throw new Error(JSON.stringify({ text, cuts, found, wanted }));
      }),
      { numRuns: runs },
    );
    return { measured: `${runs} runs, 0 failures`, holds: true };
  },
  600_000,
);

goal(8, "unknown members of a request reach the provider", "100 %", async () => {
  const names = fc
    .string({ unit: fc.constantFrom(..."abcxyz_0"), minLength: 3, maxLength: 12 })
    .map((name) => `x_${name}`);
  const unknown = fc.dictionary(names, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 6 });
  let sent = 0;
  let lost = 0;
  for (const [path, model, answer] of [
    ["/v1/chat/completions", "openai/m", CHAT.json],
    ["/v1/messages", "anthropic/m", MESSAGES.json],
  ] as const) {
    upstream.answer(() => json(JSON.parse(answer)));
    for (const more of fc.sample(unknown, 300)) {
      const message = { role: "user", content: [{ type: "text", text: "x", ...more }], ...more };
      const body = JSON.stringify({ model, max_tokens: 5, messages: [message], ...more });
      const response = await fetch(gateway.url + path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
      });
      await response.arrayBuffer();
      sent++;
      const arrived = upstream.requests.at(-1)!.body.toString();
      if (response.status !== 200 || arrived !== body.replace(`"${model}"`, '"m"')) lost++;
    }
  }
  return {
    measured: `${sent} requests in both formats, ${lost} arrived changed`,
    holds: sent === 600 && lost === 0,
  };
});

goal(34, "no client can create a key, or one with more rights", "0 escalations", async () => {
  const document = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as {
    paths: Record<string, object>;
  };
  const routes = Object.keys(document.paths);
  const suspects = [
    "/v1/keys",
    "/admin/v1/keys",
    "/keys",
    "/key/generate",
    "/admin/keys",
    "/v1/admin/keys",
    "/config",
    "/v1/config",
  ];
  let answered = 0;
  for (const path of suspects)
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
      const response = await fetch(gateway.url + path, { method, body: method === "GET" ? undefined : "{}" });
      await response.arrayBuffer();
      if (response.status < 400) answered++;
    }
  const suspicious = Object.entries(document.paths).filter(([route]) =>
    /key|admin|config|user|team/.test(route),
  );
  // A client may read what its own key permits.
  const changing = suspicious
    .flatMap(([route, methods]) => Object.keys(methods).map((method) => `${method} ${route}`))
    .filter((operation) => operation !== "get /v1/key");
  return {
    measured: `${routes.length} routes, ${changing.length} operations of them change keys; ${answered} of ${suspects.length * 5} tries answered`,
    holds: answered === 0 && changing.length === 0 && routes.length > 3,
    short: "keys are made by the admin API alone, which has a listener of its own; its tests try the scopes",
  };
});
