/** Tokens for one resource (RFC 8707) and one scope: where they are good, and what programs learn where they are not. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Feature } from "../../../feature/feature.ts";
import { chatHost, type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { json, startUpstream, type Upstream } from "../../../../test/helpers/upstream.ts";
import { CHAT_ANSWER } from "./support/answers.ts";
import { Issuer } from "./support/issuer.ts";
import { bearer, IDENTITY, tokenOf, WEIR } from "./support/signed-in.ts";

setDefaultTimeout(60_000);

const KEY = "weir-planted-key-000001";
const METHODS = ["GET", "POST", "DELETE"] as const;

/** A feature whose routes are resources. */
const resources: Feature = {
  name: "resources",
  worker: async () => ({
    start: () => ({
      seams: () => ({
        routes: METHODS.flatMap((method) =>
          ["/res", "/res/{name}"].map((path) => ({
            ...{ method, path, id: `${method}${path}`, summary: "A resource" },
            async handle(request: Request, { caller }) {
              const { pathname } = new URL(request.url);
              const [, , name] = pathname.split("/");
              const scopes = ["tools", ...(name === undefined ? [] : [`tools:${name}`])] as [string];
              const principal = await caller("tools", { path: pathname, scopes });
              return Response.json({ id: principal?.id ?? null });
            },
          })),
        ),
      }),
    }),
  }),
};

let upstream: Upstream;
let issuer: Issuer;
let gateway: RunningGateway;
let plain: RunningGateway;

beforeAll(async () => {
  upstream = startUpstream(json(CHAT_ANSWER));
  issuer = await Issuer.start("ES256");
  const common = { ...chatHost(upstream.url), keys: [{ name: "team", key: KEY }] };
  const okta = {
    issuer: issuer.url,
    audience: "weir",
    client: "weir",
    secret: "s",
    groups: { a: { member: "/" } },
  };
  gateway = await startGateway({
    features: [resources],
    config: { ...common, identity: { ...IDENTITY, providers: { okta } } },
  });
  plain = await startGateway({ features: [resources], config: common });
});

afterAll(async () => {
  await Promise.all([gateway.stop(), plain.stop(), issuer.stop()]);
  upstream.stop();
});

async function ask(path: string, headers: Record<string, string> = {}, method = "POST", at = gateway) {
  const body = JSON.stringify({ model: "host/some-model", messages: [{ role: "user", content: "hi" }] });
  const answer = await fetch(at.url + path, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(method === "POST" && { body }),
  });
  await answer.text();
  return { status: answer.status, challenge: answer.headers.get("www-authenticate") };
}

const MODELS = "/v1/chat/completions";
const document = (path: string) => `resource_metadata="${WEIR}/.well-known/oauth-protected-resource${path}"`;

/** Audience and scope of a token, and the answers of the models, of two resources and of the one above both. */
const TOKENS: readonly [string, string | undefined, string | undefined, [number, number, number, number]][] =
  [
    ["as it was before", undefined, undefined, [200, 200, 200, 200]],
    ["for models", undefined, "models", [200, 403, 403, 403]],
    ["for some models", undefined, "models:host/some-*", [200, 403, 403, 403]],
    ["for tools", undefined, "tools", [403, 200, 200, 200]],
    ["for both", undefined, "models tools", [200, 200, 200, 200]],
    ["for one server", undefined, "tools:a", [403, 200, 403, 403]],
    ["for the resource", `${WEIR}/res`, "tools", [401, 200, 200, 200]],
    ["for one below it", `${WEIR}/res/a`, "tools", [401, 200, 401, 401]],
    ["for one with the same beginning", `${WEIR}/re`, "tools", [401, 401, 401, 401]],
    ["for the resource without its scope", `${WEIR}/res`, "models", [401, 403, 403, 403]],
  ];

test.each(TOKENS)("a token %s", async (_, audience, scope, [models, a, b, above]) => {
  const facts = { ...(audience !== undefined && { audience }), ...(scope !== undefined && { scope }) };
  const headers = bearer(await tokenOf("p1", facts));
  // Twice: what was verified is remembered.
  for (let time = 0; time < 2; time++) {
    expect((await ask(MODELS, headers)).status).toBe(models);
    for (const method of METHODS) {
      expect((await ask("/res/a", headers, method)).status).toBe(a);
      expect((await ask("/res/b", headers, method)).status).toBe(b);
      expect((await ask("/res", headers, method)).status).toBe(above);
    }
  }
});

test("a token of an issuer for a resource of weir is good there and nowhere else", async () => {
  const claims = { sub: "alice", groups: ["a"] };
  const headers = bearer(await issuer.token({ ...claims, aud: ["other", `${WEIR}/res/a`] }));
  expect((await ask("/res/a", headers)).status).toBe(200);
  for (const path of ["/res/b", "/res", MODELS]) expect((await ask(path, headers)).status).toBe(401);
  const usual = bearer(await issuer.token(claims));
  for (const path of ["/res/a", "/res", MODELS]) expect((await ask(path, usual)).status).toBe(200);
  for (const aud of [
    "other",
    WEIR,
    `${WEIR}.evil.example/res`,
    [`http://${new URL(WEIR).host}/res`],
    undefined,
  ])
    expect((await ask("/res", bearer(await issuer.token({ ...claims, aud })))).status).toBe(401);
});

test("a token for one resource is not exchanged for one of weir", async () => {
  const answer = await fetch(`${gateway.url}/oauth/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      subject_token: await issuer.token({ sub: "alice", groups: ["a"], aud: `${WEIR}/res/a` }),
      subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
    }),
  });
  expect(answer.status).toBe(400);
});

test("programs learn where they get a token, and for what", async () => {
  const wanted = `${document("/res")}, scope="tools"`;
  expect(await ask("/res")).toEqual({ status: 401, challenge: `Bearer ${wanted}` });
  const invalid = `Bearer error="invalid_token", ${wanted}`;
  expect(await ask("/res", bearer(`${await tokenOf("x")}x`))).toEqual({ status: 401, challenge: invalid });
  const narrow = await ask("/res/github", bearer(await tokenOf("y", { scope: "models" })));
  expect(narrow).toEqual({
    status: 403,
    challenge: `Bearer error="insufficient_scope", scope="tools tools:github", ${document("/res/github")}`,
  });
  expect((await ask(MODELS)).challenge).toBe("Bearer");
});

test("without an address of weir the challenge names no document", async () => {
  for (const method of METHODS) {
    expect(await ask("/res", {}, method, plain)).toEqual({ status: 401, challenge: 'Bearer realm="weir"' });
    const fabricated = await ask("/res", bearer("eyJhbGciOiJub25lIn0.e30."), method, plain);
    expect(fabricated).toEqual({ status: 401, challenge: 'Bearer realm="weir"' });
    expect((await ask("/res", bearer(KEY), method, plain)).status).toBe(200);
  }
});

test("two credentials of two callers are refused, and a token in the query is none", async () => {
  const token = await tokenOf("z", { audience: `${WEIR}/res`, scope: "tools" });
  expect((await ask("/res", { ...bearer(token), "x-api-key": KEY })).status).toBe(400);
  expect((await ask("/res", { ...bearer(token), "x-api-key": token })).status).toBe(200);
  expect((await ask(`/res?access_token=${token}`)).status).toBe(401);
});
