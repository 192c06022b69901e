/** Members that differ from a known one in case only: refused where the names are fixed, carried where they are the client's. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type RunningGateway, startGateway, upstreamConfig } from "../helpers/gateway.ts";
import { json, startUpstream, type Upstream } from "../helpers/upstream.ts";

let gateway: RunningGateway;
let upstream: Upstream;

beforeAll(async () => {
  upstream = startUpstream(json({ error: { message: "no", type: "x" } }, 500));
  gateway = await startGateway({
    config: {
      ...upstreamConfig({ openai: upstream.url, anthropic: upstream.url }),
      retries: { attempts: 1 },
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const CHAT = "/v1/chat/completions";
const MESSAGES = "/v1/messages";
const user = '{"role":"user","content":"go"}';
/** Longer than what is outlined, so that the body is parsed in full. */
const PADDING = `,"padding":"${"x".repeat(5_000_000)}"`;

const post = (path: string, inside: string) =>
  fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: `{"model":"${path === CHAT ? "openai" : "anthropic"}/m","max_tokens":9${inside}}`,
  });

const messages = `,"messages":[${user}]`;
const inMessage = (member: string) => `,"messages":[{"role":"user","content":"go",${member}}]`;
const inPart = (member: string) =>
  `,"messages":[{"role":"user","content":[{"type":"text","text":"go",${member}}]}]`;

const REFUSED: readonly [path: string, inside: string, param: string][] = [
  [CHAT, `${messages},"MODEL":"huge"`, "MODEL"],
  [CHAT, `${messages},"max_toKens":99999`, "max_toKens"],
  [CHAT, `${messages},"max_to\u212aens":99999`, "max_to\u212aens"],
  [CHAT, `${messages},"ſtream":true`, "ſtream"],
  [CHAT, `${messages},"\\u017ftream":true`, "ſtream"],
  [CHAT, `${messages},"Tools":[]`, "Tools"],
  [CHAT, inMessage('"Content":"other"'), "messages[0].Content"],
  [CHAT, inMessage('"TOOL_CALLS":[]'), "messages[0].TOOL_CALLS"],
  [CHAT, inPart('"Text":"other"'), "messages[0].content[0].Text"],
  [
    CHAT,
    `${messages},"tools":[{"type":"function","function":{"name":"f","Parameters":{}}}]`,
    "tools[0].function.Parameters",
  ],
  [CHAT, `${messages},"stream_options":{"Include_Usage":true}`, "stream_options.Include_Usage"],
  [MESSAGES, `${messages},"MODEL":"huge"`, "MODEL"],
  [MESSAGES, `${messages},"ſtream":true`, "ſtream"],
  [MESSAGES, `${messages},"SYSTEM":"other"`, "SYSTEM"],
  [MESSAGES, inMessage('"Role":"assistant"'), "messages.0.Role"],
  [MESSAGES, inPart('"Cache_Control":{}'), "messages.0.content.0.Cache_Control"],
  [
    MESSAGES,
    `,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","TEXT":"x","text":"y"}]}]}]`,
    "messages.0.content.0.content.0.TEXT",
  ],
  [
    MESSAGES,
    `${messages},"tools":[{"name":"f","Input_Schema":{},"input_schema":{"type":"object"}}]`,
    "tools.0.Input_Schema",
  ],
];

describe("a member that folds to a known one is 400, and reaches no provider", () => {
  for (const [path, inside, param] of REFUSED)
    for (const padding of ["", PADDING])
      test(`${path} ${param}${padding && ", parsed in full"}`, async () => {
        const before = upstream.requests.length;
        const response = await post(path, inside + padding);
        const { error } = (await response.json()) as { error: { message: string } };
        expect([response.status, error.message]).toEqual([400, expect.stringContaining(param)]);
        expect(upstream.requests.length).toBe(before);
      });
});

const schema = '{"type":"object","properties":{"Type":{"type":"string"},"MODEL":{},"Name":{}},"Required":[]}';
const CARRIED: readonly [what: string, path: string, inside: string][] = [
  [
    "JSON schemas of tools",
    CHAT,
    `${messages},"tools":[{"type":"function","function":{"name":"f","parameters":${schema}}}]`,
  ],
  [
    "JSON schemas of answers",
    CHAT,
    `${messages},"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":${schema}}}`,
  ],
  ["metadata", CHAT, `${messages},"metadata":{"Model":"x","USER":"y"}`],
  ["a map of tokens", CHAT, `${messages},"logit_bias":{"Model":1}`],
  ["members that nobody knows", CHAT, `${messages},"x_Extra":1,"acme":{"Model":1,"Messages":[]}`],
  ["JSON schemas of tools", MESSAGES, `${messages},"tools":[{"name":"f","input_schema":${schema}}]`],
  [
    "arguments of tools",
    MESSAGES,
    `,"messages":[${user},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"Type":1,"ID":2,"Text":3}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}]`,
  ],
  ["metadata", MESSAGES, `${messages},"metadata":{"User_Id":"x","MODEL":"y"}`],
];

describe("names of the client's own are carried as they are", () => {
  for (const [what, path, inside] of CARRIED)
    test(`${path}: ${what}`, async () => {
      const before = upstream.requests.length;
      const response = await post(path, inside);
      await response.text();
      expect(upstream.requests.length).toBe(before + 1);
      expect(Buffer.from(upstream.requests.at(-1)!.body).toString()).toContain(inside.slice(1));
    });
});
