/** Token exchange over sockets: tokens of CI and workloads for those of weir, narrower scopes, and what is refused. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { environmentIn } from "../../../../test/helpers/environment.ts";
import { chatHost, type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { json, startUpstream, type Upstream } from "../../../../test/helpers/upstream.ts";
import { OwnTokens } from "../own/own-tokens.ts";
import { TokenKeys } from "../own/token-keys.ts";
import { readToken } from "../tokens/token.ts";
import { CHAT_ANSWER } from "./support/answers.ts";
import { base64url, Issuer } from "./support/issuer.ts";

setDefaultTimeout(60_000);

const SECRET = "planted-secret-of-weirs-own-tokens-0001";
const URL_OF_WEIR = "https://weir.corp.example";
const GRANT = "urn:ietf:params:oauth:grant-type:token-exchange";
const JWT = "urn:ietf:params:oauth:token-type:jwt";

let upstream: Upstream;
let github: Issuer;
let cluster: Issuer;
let gateway: RunningGateway;

beforeAll(async () => {
  upstream = startUpstream(json(CHAT_ANSWER));
  [github, cluster] = await Promise.all([Issuer.start("RS256"), Issuer.start("ES256")]);
  gateway = await startGateway({
    config: {
      ...chatHost(upstream.url),
      identity: {
        url: URL_OF_WEIR,
        tokens: { secret: SECRET },
        jwt: [
          {
            ...{ name: "github", issuer: github.url, audience: "weir", when: { repository_owner: "corp" } },
            ...{ path: "/ci/{repository}", scopes: { models: ["host/some-*"] } },
          },
          {
            ...{ name: "cluster", issuer: cluster.url, audience: "weir" },
            path: "/k8s/{/kubernetes.io/namespace}/{/kubernetes.io/serviceaccount/name}",
          },
        ],
      },
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  await Promise.all([github.stop(), cluster.stop()]);
  upstream.stop();
});

const ofJob = (more: object = {}) =>
  github.token({ sub: "repo:corp/app", repository: "corp/app", repository_owner: "corp", ...more });
const ofPod = () =>
  cluster.token({
    sub: "system:serviceaccount:shop:w",
    "kubernetes.io": { namespace: "shop", serviceaccount: { name: "w" } },
  });

async function exchange(form: Record<string, string>, init: RequestInit = {}) {
  const body = new URLSearchParams({ grant_type: GRANT, subject_token_type: JWT, ...form });
  for (const [name, value] of [...body]) if (value === "-") body.delete(name);
  const answer = await fetch(`${gateway.url}/oauth/token`, { method: "POST", body, ...init });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as any };
}

async function ask(token: string, model = "host/some-model") {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "hi" }] }),
  });
  return { status: answer.status, body: (await answer.json()) as any };
}

async function whoIs(token: string) {
  const own = await fetch(`${gateway.url}/v1/key`, { headers: { authorization: `Bearer ${token}` } });
  return (await own.json()) as { id: string; path: string };
}

test("a token of CI becomes one of weir, for the same caller at the same path", async () => {
  for (const [subject, path] of [
    [await ofJob(), "/ci/corp_app"],
    [await ofPod(), "/k8s/shop/w"],
  ] as const) {
    const { status, headers, body } = await exchange({ subject_token: subject });
    expect([status, headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(body).toMatchObject({
      ...{ token_type: "Bearer", expires_in: 3600 },
      issued_token_type: "urn:ietf:params:oauth:token-type:access_token",
    });
    const { header, claims } = readToken(body.access_token);
    expect([header["alg"], header["typ"], claims["iss"], claims["aud"]]).toEqual([
      "ES256",
      "at+jwt",
      URL_OF_WEIR,
      URL_OF_WEIR,
    ]);
    expect((await ask(body.access_token)).status).toBe(200);
    const [own, foreign] = await Promise.all([whoIs(body.access_token), whoIs(subject)]);
    expect([own.id, own.path]).toEqual([foreign.id, path]);
  }
});

test("a scope narrows; a wider one is refused, and so is one of the entry's own limits", async () => {
  const narrow = await exchange({
    subject_token: await ofPod(),
    scope: "models:host/some-model",
    expires_in: "900",
  });
  expect(narrow.body).toMatchObject({ expires_in: 900, scope: "models:host/some-model" });
  expect((await ask(narrow.body.access_token)).status).toBe(200);
  expect((await ask(narrow.body.access_token, "host/other")).body.error.code).toBe("model_not_allowed");
  const wide = await exchange({ subject_token: await ofJob() });
  expect((await ask(wide.body.access_token, "host/other")).body.error.code).toBe("model_not_allowed");
  for (const scope of [
    "models:*",
    "models:host/*",
    "models:host/some-model models:gpt-5",
    "models:host/other",
    "models:",
    "tool",
    "tools:",
    "tools:A",
    "models:a tools",
    "models:a b",
  ])
    expect([scope, (await exchange({ subject_token: await ofJob(), scope })).body.error]).toEqual([
      scope,
      "invalid_scope",
    ]);
});

const REFUSED: readonly [string, Record<string, string>, string][] = [
  ["no grant type", { grant_type: "-" }, "unsupported_grant_type"],
  ["another grant type", { grant_type: "password" }, "unsupported_grant_type"],
  ["no token", { subject_token: "-" }, "invalid_request"],
  ["no type", { subject_token_type: "-" }, "invalid_request"],
  ["another type", { subject_token_type: "urn:ietf:params:oauth:token-type:saml2" }, "invalid_request"],
  [
    "another wanted type",
    { requested_token_type: "urn:ietf:params:oauth:token-type:refresh_token" },
    "invalid_request",
  ],
  ["an actor", { actor_token: "x" }, "invalid_request"],
  ["another audience", { audience: "https://other.example" }, "invalid_target"],
  ["another resource", { resource: "https://other.example" }, "invalid_target"],
  ["two hours", { expires_in: "7200" }, "invalid_request"],
  ["no time", { expires_in: "0" }, "invalid_request"],
  ["a negative time", { expires_in: "-1" }, "invalid_request"],
  ["a fraction", { expires_in: "1.5" }, "invalid_request"],
];

test.each(REFUSED)("%s is refused", async (_, form, error) => {
  const { status, body } = await exchange({ subject_token: await ofJob(), ...form });
  expect([status, body.error]).toEqual([400, error]);
});

test("subject tokens that no call could send are refused, own tokens and keys too", async () => {
  const own = (await exchange({ subject_token: await ofJob() })).body.access_token as string;
  const bad = [
    await ofJob({ repository_owner: "evil" }),
    await ofJob({ aud: "other" }),
    await ofJob({ exp: 1 }),
    await ofJob({ repository: "../../eng" }),
    `${await ofJob()}x`,
    ...[own, "x", "a.b.c", "weir_sk_0000"],
  ];
  for (const subject of bad) {
    const { status, body } = await exchange({ subject_token: subject });
    expect([status, body.error, body.access_token]).toEqual([400, "invalid_request", undefined]);
  }
  const twice = new URLSearchParams({
    grant_type: GRANT,
    subject_token_type: JWT,
    subject_token: await ofJob(),
  });
  twice.append("subject_token", await ofPod());
  expect((await exchange({}, { body: twice })).status).toBe(400);
  expect((await exchange({}, { body: "{}", headers: { "content-type": "application/json" } })).status).toBe(
    400,
  );
  expect((await exchange({ subject_token: "x".repeat(70_000) })).status).toBe(413);
});

test("own tokens that were changed, or made with another secret, are refused", async () => {
  const facts = { person: "per_x", name: "x", path: "/", entry: "github" };
  const make = (url: string, secret: string, now = Date.now) =>
    new OwnTokens(url, secret, now).make(facts, 600_000);
  expect((await ask(await make(URL_OF_WEIR, SECRET))).status).toBe(200);
  expect((await ask(await make(URL_OF_WEIR, `${SECRET}x`))).status).toBe(401);
  expect((await ask(await make("https://weir.corp.example.evil", SECRET))).status).toBe(401);
  expect((await ask(await make(URL_OF_WEIR, SECRET, () => Date.now() - 601_000))).body.error.code).toBe(
    "token_expired",
  );
  expect((await ask(await make(URL_OF_WEIR, SECRET, () => Date.now() + 300_000))).status).toBe(401);
  const right = await make(URL_OF_WEIR, SECRET);
  const [head, body, signature] = right.split(".") as [string, string, string];
  const claims = JSON.parse(Buffer.from(body, "base64url").toString());
  const changed = base64url(JSON.stringify({ ...claims, weir: { ...claims.weir, path: "/eng" } }));
  expect((await ask(`${head}.${changed}.${signature}`)).status).toBe(401);
  expect((await ask(`${base64url('{"alg":"none","typ":"at+jwt"}')}.${body}.`)).status).toBe(401);
  const unknown = await new OwnTokens(URL_OF_WEIR, SECRET, Date.now).make(
    { ...facts, entry: "gone" },
    600_000,
  );
  expect((await ask(unknown)).status).toBe(401);
});

test("keys follow from the secret: all nodes have the same, and the ones before and after verify", async () => {
  const DAY = 86_400_000;
  let now = 1_800_000_000_000;
  const [one, two] = [new TokenKeys(SECRET, () => now), new TokenKeys(SECRET, () => now)];
  expect(await one.published()).toEqual(await two.published());
  const first = (await one.current()).kid;
  expect((await new TokenKeys("x".repeat(40), () => now).current()).kid).not.toBe(first);
  now += 30 * DAY;
  const kids = async () => (await one.published()).keys.map(({ kid }) => kid);
  expect((await one.current()).kid).not.toBe(first);
  expect(await kids()).toContain(first);
  now += 30 * DAY;
  expect(await kids()).not.toContain(first);
  const answer = await fetch(`${gateway.url}/oauth/jwks`);
  const { keys } = (await answer.json()) as { keys: Record<string, string>[] };
  expect(keys).toHaveLength(3);
  expect(keys.flatMap((key) => Object.keys(key))).not.toContain("d");
  const metadata = await fetch(`${gateway.url}/.well-known/oauth-authorization-server`);
  expect(await metadata.json()).toMatchObject({
    issuer: URL_OF_WEIR,
    token_endpoint: `${URL_OF_WEIR}/oauth/token`,
    grant_types_supported: [GRANT],
  });
});

/** `weir token` in a process of its own. */
async function command(args: readonly string[], env: Record<string, string> = {}) {
  const main = new URL("../../../main.ts", import.meta.url).pathname;
  const child = Bun.spawn([process.execPath, main, "token", ...args], {
    ...{ stdin: "ignore", stdout: "pipe", stderr: "pipe", cwd: gateway.folder },
    env: environmentIn(gateway.folder, env),
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, out: out.trim(), err: err.trim() };
}

test("weir token gets one by a file, by a variable and as a job of GitHub Actions does", async () => {
  const file = join(gateway.folder, "token");
  await Bun.write(file, `${await ofPod()}\n`);
  const byFile = await command([gateway.url, "--file", file, "--expires", "15m"]);
  expect([byFile.code, byFile.err]).toEqual([0, ""]);
  expect((await whoIs(byFile.out)).path).toBe("/k8s/shop/w");
  const byEnv = await command([gateway.url, "--variable", "CI_TOKEN", "--json"], { CI_TOKEN: await ofJob() });
  expect(JSON.parse(byEnv.out)).toMatchObject({ token_type: "Bearer", expires_in: 3600 });
  // GitHub gives a job the address and a bearer token.
  github.answer = async (request, url) =>
    url.pathname === "/job" && request.headers.get("authorization") === "Bearer of-the-job"
      ? Response.json({ value: await ofJob({ aud: url.searchParams.get("audience") }) })
      : undefined;
  const env = {
    ACTIONS_ID_TOKEN_REQUEST_URL: `${github.url}/job?x=1`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: "of-the-job",
  };
  const byJob = await command([gateway.url, "--scope", "models:host/some-model"], env);
  expect((await ask(byJob.out)).status).toBe(200);
  const refused = await command([gateway.url, "--audience", "other"], env);
  expect([refused.code, refused.err]).toEqual([
    1,
    expect.stringContaining("gives no token: The token is not valid"),
  ]);
  const without = await command([gateway.url], { GITHUB_ACTIONS: "true" });
  expect([without.code, without.err]).toEqual([2, expect.stringContaining("id-token: write")]);
  const insecure = await command(["http://weir.corp.example", "--file", file]);
  expect([insecure.code, insecure.err]).toEqual([2, expect.stringContaining("must begin with https://")]);
});

test("without a secret there are no routes", async () => {
  const other = await startGateway({
    config: { identity: { jwt: [{ issuer: github.url, audience: "weir", path: "/ci/{sub}" }] } },
  });
  try {
    expect((await fetch(`${other.url}/oauth/token`, { method: "POST" })).status).toBe(404);
  } finally {
    await other.stop();
  }
});
