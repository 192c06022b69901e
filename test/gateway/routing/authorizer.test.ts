import { expect, test } from "bun:test";
import { GatewayError } from "../../../src/core/error.ts";
import type { OutgoingRequest, Place } from "../../../src/core/place.ts";
import type { ActiveProvider, Provider, Target } from "../../../src/core/provider.ts";
import { Secret } from "../../../src/core/secret.ts";
import { Stop } from "../../../src/core/stop.ts";
import {
  bytesWithoutCredential,
  secretFilter,
  withoutSecrets,
} from "../../../src/gateway/delivery/redact.ts";
import { reasonOf } from "../../../src/gateway/lanes/transport.ts";
import { ProviderAuthorizer } from "../../../src/gateway/routing/authorizer.ts";

const request: OutgoingRequest = {
  method: "POST",
  url: new URL("https://a.example/x"),
  headers: {},
  body: [],
};
const KEY = "key-0123456789";

function made(authorize: (request: OutgoingRequest, place: Place) => unknown) {
  const provider: Provider = { name: "p", authorize: authorize as Provider["authorize"] };
  const secrets = new Map([["P_KEY", new Secret(KEY)]]);
  return new ProviderAuthorizer(provider, { name: "p", variables: { region: "eu" }, env: {}, secrets });
}

test("the plugin gets the final request and the place, and its headers have lower-case names", async () => {
  const authorizer = made(({ method, url }, { name, variables, secret }) => ({
    Authorization: `${method} ${url.pathname} ${name} ${variables["region"]} ${secret("P_KEY")} ${secret("OTHER")}`,
  }));
  expect(await authorizer.authorize(request, new Stop())).toEqual({
    authorization: `POST /x p eu ${KEY} undefined`,
  });
});

test("a plugin that throws, waits for ever or returns something else fails the attempt before it is sent", async () => {
  const faultOf = async (authorize: () => unknown) => {
    const error = await made(authorize)
      .authorize(request, new Stop())
      .catch((thrown: unknown) => thrown as GatewayError);
    expect(error).toBeInstanceOf(GatewayError);
    return (error as GatewayError).cause;
  };
  const throwing = () => {
    throw new Error("oh");
  };
  for (const authorize of [
    throwing,
    () => Promise.reject(new Error("oh")),
    () => undefined,
    () => ({ a: 1 }),
  ])
    expect(reasonOf(await faultOf(authorize))).toBe("authorization");
  expect(String(await faultOf(() => ({ Host: "b.example" })))).toContain("cannot set the header host");
  const stop = new Stop();
  const waiting = made(() => new Promise(() => {})).authorize(request, stop);
  const reason = new GatewayError("timeout", "too late");
  stop.abort(reason);
  expect(await waiting.catch((thrown: unknown) => thrown)).toBe(reason);
});

test("what the plugin kept is dropped once, however many calls the host refused", async () => {
  const kept: unknown[] = [];
  const authorizer = made((_request, place) => {
    kept.push(place.kept.get("token"));
    place.kept.set("token", kept.length);
    return {};
  });
  const authorize = () => authorizer.authorize(request, new Stop());
  await authorize();
  await authorize();
  const { generation } = authorizer;
  expect([authorizer.renew(generation, null), authorizer.renew(generation, null)]).toEqual([true, true]);
  await authorize();
  expect(kept).toEqual([undefined, 1, undefined]);
  // A host that refuses the new token, too, does not cause another one at once.
  expect(authorizer.renew(authorizer.generation, null)).toBe(false);
  expect(made(() => ({})).renew(0, null)).toBe(false);
});

test("credentials and concealed values are masked wherever credentials are, from the moment they are known", async () => {
  const token = (number: number) => `token-0123456789-${number}`;
  let count = 0;
  const authorizer = made((_request, place) => {
    place.conceal(token(++count));
    return { authorization: "Bearer bearer-0123456789" };
  });
  const deployment = { name: "p", baseUrl: "", credentials: {}, weight: 1, priority: 0, authorizer };
  const provider: ActiveProvider = {
    ...{ name: "p", source: "built-in", patterns: [], authorize: () => ({}) },
    deployments: [deployment],
  };
  const target = { provider, deployment } as unknown as Target;
  const hide = secretFilter([provider]);
  const masked = (text: string) => [
    Buffer.from(bytesWithoutCredential(Buffer.from(text), target)).toString(),
    withoutSecrets(text, provider),
    hide(text),
  ];
  expect(masked(`a ${KEY} ${token(1)}`)).toEqual(Array(3).fill(`a *** ${token(1)}`));
  await authorizer.authorize(request, new Stop());
  expect(masked(`a ${KEY} ${token(1)} bearer-0123456789`)).toEqual(Array(3).fill("a *** *** ***"));
  for (let more = 0; more < 200; more++) await authorizer.authorize(request, new Stop());
  expect(authorizer.concealed.length).toBeLessThan(80);
  expect(masked(token(count))).toEqual(Array(3).fill("***"));
});

test("a wrong clock is corrected by the date of the refusal, and a small difference is not", async () => {
  const times: number[] = [];
  const authorizer = made((_request, place) => {
    times.push(place.now() - Date.now());
    return {};
  });
  const refuse = (skewMs: number) =>
    authorizer.renew(authorizer.generation, new Date(Date.now() + skewMs).toUTCString());
  await authorizer.authorize(request, new Stop());
  expect([refuse(10_000), refuse(-3600_000)]).toEqual([false, true]);
  await authorizer.authorize(request, new Stop());
  expect(refuse(-3600_000)).toBe(false);
  expect(times[0]!).toBeLessThan(1_000);
  expect(Math.abs(times[1]! + 3600_000)).toBeLessThan(10_000);
});

test("a plugin may limit the time of its requests, and explain lets it send none", async () => {
  const silent = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Promise<Response>(() => {}) });
  const url = `http://127.0.0.1:${silent.port}`;
  let sent = 0;
  const authorizer = made(async (_request, place) => {
    sent++;
    await place.fetch({ url, timeoutMs: 50, direct: true });
    return { authorization: "x" };
  });
  const failed = await authorizer.authorize(request, new Stop()).catch((thrown: unknown) => thrown);
  expect(failed).toMatchObject({ code: "upstream_authorization" });
  expect(await authorizer.preview(request)).toEqual([]);
  expect(sent).toBe(2);
  const signing = made(() => ({ "X-Date": "now", authorization: "x" }));
  expect(await signing.preview(request)).toEqual(["authorization", "x-date"]);
  await silent.stop(true);
});
