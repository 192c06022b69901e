/** Secrets stay where they belong: canaries in every place one can be put, and traps where one could be sent. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { loadConfig } from "../../src/config/load.ts";
import { providerSettings } from "../../src/config/providers.ts";
import { type RunningGateway } from "../helpers/gateway.ts";
import { seededRandom } from "../helpers/recordings.ts";
import { type Answer, json, sse, startUpstream, type Upstream } from "../helpers/upstream.ts";
import { exchangeRaw, KEY, startBinary } from "./armour.ts";
import { goal } from "./goals.ts";
import { streamedText } from "../helpers/streamed.ts";

const SECRETS = {
  openai: "sk-proj-canary-A1b2C3d4E5f6G7h8",
  anthropic: "sk-ant-api03-canary-Z9y8X7w6V5u4",
  header: "configured-header-canary-0123456789",
  environment: "environment-canary-qwertzuiop",
  client: KEY,
  plugin: "sk-plugin-canary-0987654321abcdef",
  prompt: "prompt canary that is nobody's business",
};

let gateway: RunningGateway;
let upstream: Upstream;
let trap: Upstream;

beforeAll(async () => {
  upstream = startUpstream(json({}));
  trap = startUpstream(json({}));
  gateway = await startBinary({
    env: {
      OPENAI_API_KEY: SECRETS.openai,
      ANTHROPIC_API_KEY: SECRETS.anthropic,
      SOME_VARIABLE: SECRETS.environment,
      HEADER_SECRET: SECRETS.header,
    },
    config: {
      keys: [`tester:${KEY}`],
      retries: { attempts: 1 },
      providers: {
        openai: { baseUrl: `${upstream.url}/v1`, headers: { "x-team-token": "${HEADER_SECRET}" } },
        anthropic: { baseUrl: upstream.url },
      },
      // One of them is broken.
      plugins: { strict: false },
    },
    plugins: {
      "angry.ts": `import { definePlugin } from "weir";
        export default definePlugin({ name: "angry", providers: [{ name: "angry", async *generate() {
          throw new Error("could not log in with ${SECRETS.plugin}");
        } }] });`,
      "broken.ts": `throw new Error("no login with ${SECRETS.plugin}");`,
    },
  });
}, 600_000);

afterAll(async () => {
  await gateway?.stop();
  upstream?.stop();
  trap?.stop();
});

const ROUTES = ["/v1/chat/completions", "/v1/messages"] as const;
const MODELS = ["openai/m", "anthropic/m"] as const;

function ask(
  path: string,
  body: object,
  headers: Record<string, string> = {},
  query = "",
): Promise<Response> {
  return fetch(gateway.url + path + query, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${KEY}`, ...headers },
    body: JSON.stringify(body),
  });
}

const body = (model: string, stream = false, more: object = {}) => ({
  model,
  stream,
  max_tokens: 9,
  messages: [{ role: "user", content: SECRETS.prompt }],
  ...more,
});

/** Everything an upstream that lost its temper could repeat. */
const TIRADE = `you sent authorization: Bearer ${SECRETS.openai}, x-api-key: ${SECRETS.anthropic} and x-team-token: ${SECRETS.header}`;
const COMPLAINT = { type: "error", error: { type: "some_error", code: "some_code", message: TIRADE } };
const chunk = `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: { role: "assistant", content: "hi" }, finish_reason: null }] })}\n\n`;
const begun = `event: message_start\ndata: ${JSON.stringify({ type: "message_start", message: { id: "m", type: "message", role: "assistant", model: "m", content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } } })}\n\n`;
const errorEvent = `event: error\ndata: ${JSON.stringify(COMPLAINT)}\n\n`;
const opening = (model: string) => (model.startsWith("openai") ? chunk : begun);

/** Ways an upstream fails and says too much, by name. */
const OUTBURSTS: Record<string, (model: string) => Answer> = {
  ...Object.fromEntries(
    [400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 529].map((status) => [
      `status ${status}`,
      () => json(COMPLAINT, status),
    ]),
  ),
  "an error called 200": () => json(COMPLAINT),
  "a text": () => ({ status: 500, headers: { "content-type": "text/plain" }, body: TIRADE }),
  "a page": () => ({ status: 502, headers: { "content-type": "text/html" }, body: `<html>${TIRADE}</html>` }),
  "a page called 200": () => ({ headers: { "content-type": "text/html" }, body: `<html>${TIRADE}</html>` }),
  "an error as the first event": () => sse([errorEvent]),
  "an error in mid-stream": (model) => sse([opening(model), errorEvent]),
  "an error in mid-stream, in pieces": (model) =>
    sse([opening(model), ...[...errorEvent].map((letter) => letter)]),
  "an error in the chunk of an event": (model) => sse([opening(model) + errorEvent]),
  "a bare error frame": (model) =>
    sse([opening(model), `data: ${JSON.stringify({ error: COMPLAINT.error })}\n\n`]),
  "an error cut off": (model) => ({ ...sse([opening(model), errorEvent.slice(0, -20)]), ending: "rst" }),
  "a redirect": () => ({ status: 307, headers: { location: `${trap.url}/${SECRETS.openai}` }, body: TIRADE }),
  "a failing head": () => ({
    status: 400,
    headers: {
      "content-type": "application/json",
      "x-request-id": SECRETS.openai,
      "request-id": SECRETS.anthropic,
    },
    body: JSON.stringify(COMPLAINT),
  }),
};

goal(
  30,
  "no secret leaves",
  "0 canaries in answers, heads, logs and crash output, with every kind of failure",
  async () => {
    const found: string[] = [];
    const search = (where: string, text: string, but: readonly string[] = []) => {
      for (const [name, secret] of Object.entries(SECRETS))
        if (!but.includes(name) && text.includes(secret)) found.push(`${name} in ${where}`);
    };
    let answers = 0;
    for (const [why, outburst] of Object.entries(OUTBURSTS))
      for (const path of ROUTES)
        for (const model of MODELS)
          for (const stream of [false, true]) {
            upstream.answer(() => outburst(model));
            const response = await ask(path, body(model, stream));
            const text = await streamedText(response);
            // What one vendor is told of the other's credential it was never sent, so it cannot be masked by name.
            const own = model.startsWith("openai") ? ["anthropic"] : ["openai", "header"];
            search(
              `${why}, ${path} to ${model}, ${stream}`,
              text + JSON.stringify([...response.headers]),
              own,
            );
            answers++;
          }
    for (const path of ROUTES) {
      for (const model of ["angry/x", "mock/throw", "mock/error-500", "mock/cut-after-2", "none/x"]) {
        const response = await ask(path, body(model, true));
        search(`${path} to ${model}`, await streamedText(response));
        answers++;
      }
      const wrong = `Bearer ${SECRETS.prompt.replaceAll(/[^a-z]/g, "-")}`;
      const refused = await ask(path, body("openai/m"), {
        authorization: wrong,
        "x-api-key": SECRETS.prompt,
      });
      search("a refused key", await refused.text());
    }
    upstream.answer(() => json({}));
    for (const path of ["/v1/models", "/health", "/openapi.json", "/v1/models/openai/m"]) {
      const response = await fetch(gateway.url + path, { headers: { "x-api-key": KEY } });
      search(path, await response.text());
    }
    const explained = await ask("/v1/explain", body("openai/m"));
    search("/v1/explain", await explained.text(), ["prompt"]);
    await Bun.sleep(100);
    search("the log", gateway.log.join("\n"));
    const lines = gateway.log.filter((line) => line.startsWith("{")).length;
    for (const sentence of found.slice(0, 10)) console.log(sentence);
    return {
      measured: `${answers} failing answers, ${lines} lines of log, ${Object.keys(SECRETS).length} canaries: ${found.length} found`,
      holds: found.length === 0 && lines >= answers,
    };
  },
);

/** Ways to write the address of this machine that a string test does not see through. */
const HOSTS = [
  "127.0.0.1",
  "127.1",
  "127.0.1",
  "2130706433",
  "0x7f000001",
  "0x7f.1",
  "0177.0.0.1",
  "017700000001",
  "127.0.0.1.",
  "localhost",
  "LOCALHOST",
  "localhost.",
  "[::1]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[0:0:0:0:0:0:0:1]",
  "①②⑦.⓪.⓪.①",
  "127。0。0。1",
  "0",
  "0.0.0.0",
  "[::]",
  "%31%32%37.0.0.1",
  "api.openai.com@127.0.0.1",
  "127.0.0.1#api.openai.com",
  "127.0.0.1?.openai.com",
  "127.0.0.1\\.openai.com",
  "127.0.0.1%2f.openai.com",
];

/** Members of a body that other gateways have taken an address from. */
const MEMBERS = [
  "api_base",
  "base_url",
  "baseUrl",
  "baseURL",
  "api_url",
  "endpoint",
  "url",
  "host",
  "custom_host",
  "upstream",
  "proxy",
  "proxy_url",
  "azure_endpoint",
  "target",
  "server",
  "callback_url",
  "webhook_url",
  "redirect",
  "api_key",
  "provider",
];

const HEADERS = [
  "x-base-url",
  "x-api-base",
  "x-portkey-custom-host",
  "x-custom-host",
  "x-forwarded-host",
  "x-original-url",
  "x-rewrite-url",
  "forwarded",
  "x-target",
  "x-upstream",
  "x-openai-base-url",
  "referer",
  "origin",
  "x-forwarded-for",
];

const ANSWERS: Record<string, object> = {
  openai: {
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  },
  anthropic: {
    id: "m",
    type: "message",
    role: "assistant",
    model: "m",
    content: [{ type: "text", text: "hi" }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  },
};

goal(
  31,
  "keys bound to origins",
  "0 connections at the trap, whatever names it; 0 credentials elsewhere than at the configured origin",
  async () => {
    const before = trap.requests.length;
    const first = upstream.requests.length;
    let forms = 0;
    const send = async (more: object, headers: Record<string, string> = {}, query = "", model = "") => {
      for (const [index, path] of ROUTES.entries()) {
        const name = MODELS[index]!;
        upstream.answer(() => json(ANSWERS[name.split("/")[0]!]!));
        forms++;
        await streamedText(await ask(path, body(model || name, false, more), headers, query));
      }
    };
    for (const host of HOSTS) {
      const url = `http://${host}:${trap.port}/v1`;
      const image = [
        {
          role: "user",
          content: [
            { type: "image_url", image_url: { url } },
            { type: "text", text: "x" },
          ],
        },
      ];
      await send({ api_base: url, base_url: url, messages: image });
      await send({}, {}, `?base_url=${encodeURIComponent(url)}&api_base=${encodeURIComponent(url)}`);
      await send({}, {}, "", `openai/${url}`);
      await send({}, {}, "", url);
    }
    for (const member of MEMBERS) await send({ [member]: trap.url, extra_body: { [member]: trap.url } });
    for (const header of HEADERS) await send({}, { [header]: trap.url });
    for (const target of [
      `${trap.url}/v1/messages`,
      `//127.0.0.1:${trap.port}/v1/messages`,
      `@127.0.0.1:${trap.port}/`,
    ]) {
      const text = JSON.stringify(body("anthropic/m"));
      const head = [
        `Host: 127.0.0.1:${trap.port}`,
        "content-type: application/json",
        `x-api-key: ${KEY}`,
        `content-length: ${text.length}`,
      ];
      forms++;
      await exchangeRaw(gateway.port, `POST ${target} HTTP/1.1\r\n${head.join("\r\n")}\r\n\r\n${text}`);
    }
    for (const status of [301, 302, 303, 307, 308])
      for (const location of [
        trap.url,
        `//127.0.0.1:${trap.port}/`,
        `http:\\\\127.0.0.1:${trap.port}`,
        `/\\127.0.0.1:${trap.port}`,
      ])
        for (const [index, path] of ROUTES.entries()) {
          upstream.answer(() => ({ status, headers: { location }, body: "" }));
          forms++;
          await streamedText(await ask(path, body(MODELS[index]!)));
        }
    const wrongKeys = upstream.requests.slice(first).filter(({ headers }) => {
      const seen = JSON.stringify([...headers]);
      return seen.includes(KEY) || (seen.includes(SECRETS.openai) && seen.includes(SECRETS.anthropic));
    });
    const trapped = trap.requests.length - before + trap.connections;
    return {
      measured: `${forms} requests in ${HOSTS.length * 4 + MEMBERS.length + HEADERS.length + 23} forms: ${trapped} at the trap, ${wrongKeys.length} with another's key, ${upstream.requests.length - first} at the configured origin`,
      holds: trapped === 0 && wrongKeys.length === 0 && upstream.requests.length - first > 100,
    };
  },
);

test("a base URL is http or https, without user, query or fragment; a credential in it is not repeated", () => {
  const wrong = [
    "file:///etc/hostname",
    "data:text/plain,x",
    "blob:http://x/y",
    "s3://bucket/key",
    "ftp://x",
    "javascript:1",
    "unix:/run/x.sock",
    "//x/v1",
    "x/v1",
    "http:x",
    "https:/x",
    "http://",
    "https://user:pa55word-canary@x/v1",
    "https://pa55word-canary@x/v1",
    "https://x/v1?key=pa55word-canary",
    "https://x/v1#a",
    "ws://x",
    "HTTP//x",
    "http://x y/",
  ];
  for (const baseUrl of wrong) {
    const sentence = refusal(baseUrl);
    expect([baseUrl, sentence]).toEqual([baseUrl, expect.stringContaining("OPENAI_BASE_URL")]);
    expect(sentence).not.toContain("pa55word-canary");
  }
});

/** The sentence that refuses an address given by environment, or `taken`. */
function refusal(baseUrl: string): string {
  const env = { OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: "k-0123456789" };
  const { config } = loadConfig({ env, cwd: "/" });
  try {
    const openai = { name: "openai", speaks: { "chat-completions": "/x" }, apiKey: "OPENAI_API_KEY" };
    providerSettings(config, env, openai, {});
    return "taken";
  } catch (refused) {
    return (refused as Error).message;
  }
}

const random = seededRandom(11);
const LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789-_.";

/** Names nobody has listed: random ones, and those that look like what passes. */
function oddName(): string {
  const starts = [
    "",
    "x-",
    "openai-",
    "anthropic-",
    "retry-after-",
    "x-amz-",
    "cf-",
    "x-weir-",
    "sec-",
    "access-control-",
  ];
  const start = starts[Math.floor(random() * starts.length)]!;
  const rest = Array.from(
    { length: 6 + Math.floor(random() * 10) },
    () => LETTERS[Math.floor(random() * LETTERS.length)],
  ).join("");
  return `${start}q${rest.replace(/[.]+$/, "")}q`;
}

goal(
  32,
  "header allow-lists",
  "0 of 200 random headers pass in either direction, on both routes and lanes",
  async () => {
    const names = [...new Set(Array.from({ length: 200 }, oddName))];
    const passed: string[] = [];
    for (const [index, path] of ROUTES.entries())
      for (const model of MODELS)
        for (let at = 0; at < names.length; at += 60) {
          const batch = Object.fromEntries(names.slice(at, at + 60).map((name) => [name, "odd-canary"]));
          upstream.answer(() => ({
            ...json(ANSWERS[model.split("/")[0]!]!),
            headers: {
              "content-type": "application/json",
              ...batch,
              "set-cookie": "odd-canary",
              server: "odd-canary",
            },
          }));
          const count = upstream.requests.length;
          const response = await ask(path, body(model), batch);
          await streamedText(response);
          if (response.status !== 200) passed.push(`status ${response.status} ${index}`);
          for (const [name, value] of [...response.headers])
            if (value.includes("odd-canary")) passed.push(`to the client: ${name}`);
          for (const [name, value] of upstream.requests[count]?.rawHeaders ?? [["none", "odd-canary"]])
            if (value.includes("odd-canary")) passed.push(`to the upstream: ${name}`);
        }
    const listed = [...new Set(passed)];
    return {
      measured: `${names.length} names × 2 directions × 2 routes × 2 upstreams: ${listed.length} passed ${listed.slice(0, 5).join(", ")}`,
      holds: listed.length === 0,
    };
  },
);
