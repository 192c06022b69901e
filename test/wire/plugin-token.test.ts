/** A dropped plugin whose requests carry a token from a token endpoint, for a host with the model in its path. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { openaiClient } from "../helpers/sdk.ts";
import { html, json, sse, startUpstream, type Upstream } from "../helpers/upstream.ts";

const SECRET = "client-secret-canary-01234567";
const VERSION = "?version=2";

let gateway: RunningGateway;
let host: Upstream;
let login: Upstream;
/** The token that the host accepts. */
let valid: string;
let issued: number;

beforeEach(async () => {
  issued = 0;
  valid = tokenOf(1);
  host = startUpstream((request) => {
    if (request.headers.get("authorization") !== `Bearer ${valid}`)
      return json(
        { error: { message: `The token ${request.headers.get("authorization")} is invalid.` } },
        401,
      );
    return request.path.includes(":stream") ? sse(CHUNKS) : json(COMPLETION);
  });
  login = startUpstream(async () => {
    issued++;
    const token = tokenOf(issued);
    await Bun.sleep(20);
    return json({ access_token: token, expires_in: 3600 });
  });
  gateway = await startGateway({
    plugins: { "token.ts": await Bun.file(join(import.meta.dir, "plugins/token.ts")).text() },
    env: { TOKEN_CLIENT_SECRET: SECRET, TOKEN_PROJECT: "my project" },
    config: {
      providers: { token: { baseUrl: host.url, variables: { tokenUrl: `${login.url}/token` } } },
      fallbacks: { "token/*": ["mock/chat"] },
      retries: { attempts: 2 },
    },
  });
});

afterEach(async () => {
  await gateway.stop();
  host.stop();
  login.stop();
});

const tokenOf = (number: number) => `token-canary-${number}-0123456789abcdef`;

const COMPLETION = {
  ...{ id: "c", object: "chat.completion", created: 1, model: "m" },
  choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};
const CHUNKS = [
  `data: ${JSON.stringify({ id: "c", model: "m", choices: [{ index: 0, delta: { content: "hello" }, finish_reason: "stop" }] })}\n\n`,
  "data: [DONE]\n\n",
];

const ask = (stream = false) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "token/a/b:c", stream, messages: [{ role: "user", content: "hi" }] }),
  });

test("calls at the same time share one token, and the URL holds project, model and version", async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => ask(index % 2 === 1)));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect(await answers[1]!.text()).toContain("hello");
  expect(issued).toBe(1);
  const paths = new Set(host.requests.map(({ path }) => path));
  expect(paths).toEqual(
    new Set([
      `/projects/my%20project/models/a%2Fb%3Ac:generate${VERSION}`,
      `/projects/my%20project/models/a%2Fb%3Ac:stream${VERSION}`,
    ]),
  );
  expect(JSON.parse(host.requests[0]!.body.toString())).not.toHaveProperty("model");
  const request = login.requests[0]!;
  expect([request.method, request.path, request.body.toString()]).toEqual([
    "POST",
    "/token",
    `client_secret=${SECRET}`,
  ]);
});

test("an expired token is fetched anew and the request is sent once more, for many calls at once too", async () => {
  await (await ask()).text();
  valid = tokenOf(2);
  const answers = await Promise.all(Array.from({ length: 10 }, () => ask()));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect(answers.map(({ headers }) => headers.get("x-weir-provider"))).toEqual(answers.map(() => "token"));
  expect(answers[0]!.headers.get("x-weir-attempts")).toBeNull();
  expect(issued).toBe(2);
});

test("a token that is refused again is the gateway's fault, and neither it nor the secret is shown", async () => {
  valid = "never";
  const before = host.requests.length;
  const response = await ask();
  // The mock answers as fallback: the host was asked twice, and not in a loop.
  expect(response.headers.get("x-weir-tried")).toMatch(/^token:401:\d+ms$/);
  expect([host.requests.length - before, issued]).toEqual([2, 2]);
  await (await ask()).text();
  expect(issued).toBe(2);
  const told = [JSON.stringify([...response.headers]), await response.text(), gateway.log.join("\n")].join(
    "\n",
  );
  for (const secret of [SECRET, tokenOf(1), tokenOf(2)]) expect(told).not.toContain(secret);
});

test("a host that repeats the token in its answer does not hand it out", async () => {
  host.answer((request) => {
    const said = `you sent ${request.headers.get("authorization")!.slice("Bearer ".length)}`;
    return json({
      ...COMPLETION,
      choices: [{ index: 0, message: { content: said }, finish_reason: "stop" }],
    });
  });
  const { choices } = await openaiClient(gateway.url).chat.completions.create({
    model: "token/m",
    messages: [{ role: "user", content: "hi" }],
  });
  expect(choices[0]!.message.content).toBe("you sent ***");
});

test("a token endpoint that fails means that the request was not sent, and the call goes elsewhere", async () => {
  for (const failing of [() => html(500), () => json({ error: `bad ${SECRET}` }, 400)]) {
    login.answer(failing);
    const response = await ask();
    expect([response.status, response.headers.get("x-weir-provider")]).toEqual([200, "mock"]);
    expect(response.headers.get("x-weir-tried")).toMatch(/^token:authorization:\d+ms$/);
  }
  expect(host.requests.length).toBe(0);
  expect(gateway.log.join("\n")).not.toContain(SECRET);
});
