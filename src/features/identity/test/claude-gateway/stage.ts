/** weir with sign-in, a provider, an upstream and a collector, behind one address as a proxy makes it. */
import { Issuer } from "../support/issuer.ts";
import { formIn } from "../support/programs.ts";
import { Browser, CLIENT, FakeSignIn } from "../support/sign-in.ts";
import { freePort, type Serving, serve, until } from "../../../../../test/helpers/serving.ts";

export const ADMIN = "weir-planted-admin-0001";

/** A request that the client has sent, and the answer's status. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
  readonly status: number;
  readonly answer: Headers;
}

export interface Stage {
  /** The one address. */
  readonly url: string;
  readonly seen: Seen[];
  /** Bodies of requests at the upstream. */
  readonly asked: any[];
  readonly gateway: Serving;
  readonly provider: FakeSignIn;
  /** Output tokens of the next answers. */
  tokens: number;
  /** Signs the person in, and presses the button of the page. @param code as the client shows it */
  approve(code: string): Promise<void>;
  end(): Promise<void>;
}

/** What the admin listener serves. */
const ON_ADMIN = /^\/(?:auth|console|admin|device|oauth\/authorize)(?:\/|\?|$)/;

export interface StageOptions {
  /** Members of the config. */
  readonly more?: Record<string, unknown>;
  /** Managed settings of everybody. */
  readonly settings?: object;
  /** Life of a token. Default `1h`. */
  readonly access?: string;
  /** The upstream speaks chat-completions, so that weir translates. */
  readonly translates?: boolean;
}

export async function startStage(options: StageOptions): Promise<Stage> {
  const { more = {}, settings, access = "1h", translates = false } = options;
  const [front, adminPort] = [freePort(), freePort()];
  const url = `http://127.0.0.1:${front}`;
  const issuer = await Issuer.start("ES256");
  const provider = new FakeSignIn(issuer);
  provider.refreshing.isGiven = true;
  provider.refreshing.userinfo = { groups: ["users"] };
  const asked: any[] = [];
  const stage = { tokens: 1 };
  const upstream = Bun.serve({
    ...{ port: 0, hostname: "127.0.0.1", idleTimeout: 0 },
    async fetch(request) {
      const body = (await request.json().catch(() => ({}))) as any;
      const { pathname } = new URL(request.url);
      if (!/^\/v1\/(?:messages|chat\/completions)$/.test(pathname)) return Response.json({ input_tokens: 1 });
      asked.push(body);
      return translates ? chatAnswerTo(body) : answerTo(body, stage.tokens);
    },
  });
  const gateway = await serve({
    workers: 2,
    config: JSON.stringify({
      ...upstreamConfig(`http://127.0.0.1:${upstream.port}`, translates),
      prices: { "anthropic/*": { input: 0, output: 1, cacheRead: 0, cacheWrite: 0 } },
      log: { format: "json" },
      admin: { port: adminPort },
      state: "state",
      adminKeys: [{ name: "boss", key: ADMIN, role: "admin" }],
      ...more,
      identity: {
        url,
        tokens: { secret: "planted-secret-of-weirs-own-tokens-0001", access },
        clients: { "claude-code": { tag: "project", ...(settings && { settings: { "/": settings } }) } },
        providers: {
          corp: {
            ...{ issuer: issuer.url, client: CLIENT.id, secret: CLIENT.secret },
            groups: { users: { member: "/people" } },
          },
        },
      },
    }),
  });
  const seen: Seen[] = [];
  const proxy = Bun.serve({
    ...{ port: front, hostname: "127.0.0.1", idleTimeout: 0 },
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const body = await request.text();
      const to = ON_ADMIN.test(pathname) ? `http://127.0.0.1:${adminPort}` : gateway.url;
      const headers = new Headers(request.headers);
      headers.delete("accept-encoding");
      const { method } = request;
      const hasBody = method !== "GET" && method !== "HEAD";
      const answer = await fetch(to + pathname + search, {
        ...{ method, headers, redirect: "manual", ...(hasBody && { body }) },
      });
      const { status } = answer;
      seen.push({ method, path: pathname + search, headers, body, status, answer: answer.headers });
      return new Response(answer.body, { status, headers: answer.headers });
    },
  });
  await until(async () => (await fetch(`${url}/auth/`, { redirect: "manual" })).status === 200, 20_000);
  return {
    ...{ url, seen, asked, gateway, provider },
    get tokens() {
      return stage.tokens;
    },
    set tokens(wanted) {
      stage.tokens = wanted;
    },
    async approve(code) {
      const browser = new Browser(url);
      await browser.signIn(provider, { userinfo: { groups: ["users"] } });
      const { action, fields } = formIn(await (await browser.go(`/device?user_code=${code}`)).text());
      const done = await browser.go(action, {
        ...{ method: "POST", headers: { origin: url } },
        body: new URLSearchParams({ ...fields, decision: "allow" }),
      });
      if (!done.ok) throw new Error(`the page answers ${done.status}: ${await done.text()}`);
    },
    async end() {
      await proxy.stop(true);
      await gateway.end();
      await Promise.all([issuer.stop(), upstream.stop(true)]);
    },
  };
}

function upstreamConfig(url: string, translates: boolean): object {
  if (!translates) return { providers: { anthropic: { baseUrl: url, apiKey: "sk-ant-planted" } } };
  const host = { baseUrl: `${url}/v1`, speaks: "chat-completions", models: ["some-model"] };
  return { providers: { host }, aliases: { "claude-*": "host/some-model" } };
}

/** What the upstream says. */
const TEXT = "the upstream has answered";

function chatAnswerTo(body: any): Response {
  const common = { id: "c1", created: 1, model: "some-model" };
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  if (body.stream !== true) {
    const message = { role: "assistant", content: TEXT };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    return Response.json({ ...common, object: "chat.completion", choices, usage });
  }
  const chunks = [
    { choices: [{ index: 0, delta: { role: "assistant", content: TEXT }, finish_reason: null }] },
    { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
    { choices: [], usage },
  ].map((chunk) => JSON.stringify({ ...common, object: "chat.completion.chunk", ...chunk }));
  const stream = [...chunks, "[DONE]"].map((data) => `data: ${data}\n\n`).join("");
  return new Response(stream, { headers: { "content-type": "text/event-stream" } });
}

/** The answer of the vendor: one sentence, of as many tokens as are wanted. */
function answerTo(body: any, tokens: number): Response {
  const usage = { input_tokens: 10, output_tokens: tokens };
  const message = {
    ...{ id: "msg_1", type: "message", role: "assistant", model: body.model, stop_sequence: null },
    ...{ stop_reason: "end_turn", content: [{ type: "text", text: TEXT }], usage },
  };
  if (body.stream !== true) return Response.json(message);
  const events = [
    { type: "message_start", message: { ...message, content: [], stop_reason: null } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: TEXT } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage },
    { type: "message_stop" },
  ];
  const stream = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
  return new Response(stream, { headers: { "content-type": "text/event-stream" } });
}
