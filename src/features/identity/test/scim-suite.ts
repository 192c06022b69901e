/** SCIM against a real gateway. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../../../../test/helpers/serving.ts";
import { describeAccess, describeIdentity } from "./scim-people.ts";
import { describeSenders } from "./scim-senders.ts";
import { bound, type Gateway, oktaUser, providerOf, ScimGateway } from "./support/scim.ts";

/** @param store makes the URL of an empty store; absent: a file */
export function describeScim(workers: number, store?: () => Promise<string>): void {
  let on: ScimGateway;
  beforeAll(async () => void (on = await ScimGateway.start(workers, await store?.())));
  afterAll(() => on?.end());
  const gateway = () => on;
  describeSenders(gateway);
  describeAccess(gateway);
  describeIdentity(gateway);
  describeDoors(gateway);
  describeOptions(gateway);
}

function describeDoors(on: Gateway): void {
  test("who has not the token learns nothing and is slowed down; the right one passes always", async () => {
    const { scim } = bound(on());
    const as = (authorization: string) => scim("GET", "/Users", undefined, { authorization });
    expect((await as("")).status).toBe(401);
    const wrong = [];
    for (let n = 0; n < 7; n++) wrong.push((await as(`Bearer ${"x".repeat(38 + n)}`)).status);
    expect(wrong).toEqual([401, 401, 401, 401, 401, 429, 429]);
    expect((await scim("GET", "/Users")).status).toBe(200);
    expect((await scim("GET", "/Users", undefined, { host: "evil.example" })).status).toBe(403);
    const beside = await fetch(`${on().admin}/admin/v1/people`, {
      headers: { authorization: "Bearer planted-scim-token-0123456789-abcdefgh" },
    });
    expect(beside.status).toBe(401);
    expect((await fetch(`${on().gateway.url}/scim/v2/Users`)).status).not.toBe(200);
  });

  test("faults, methods, pages and parts of resources", async () => {
    const { scim } = bound(on());
    const fault = async (method: string, path: string, body?: object) => {
      const { status, json, headers } = await scim(method, path, body);
      expect(headers.get("content-type")).toBe("application/scim+json");
      expect(json.schemas).toEqual(["urn:ietf:params:scim:api:messages:2.0:Error"]);
      return [status, json.status, json.scimType];
    };
    expect(await fault("GET", "/Nothing")).toEqual([404, "404", undefined]);
    expect(await fault("GET", "/Users/usr_1")).toEqual([404, "404", undefined]);
    expect(await fault("DELETE", "/Users/usr_1")).toEqual([404, "404", undefined]);
    expect(await fault("PATCH", "/Users")).toEqual([405, "405", undefined]);
    expect(await fault("POST", "/Schemas", {})).toEqual([405, "405", undefined]);
    expect(await fault("GET", "/Me")).toEqual([501, "501", undefined]);
    expect(await fault("POST", "/Users", { userName: 5 })).toEqual([400, "400", "invalidValue"]);
    expect(await fault("GET", "/Users?count=many")).toEqual([400, "400", "invalidValue"]);
    for (const filter of ["userName", 'userName gt "a"', 'title eq "x"', 'userName eq "a" or id eq "b"', "'"])
      expect(await fault("GET", `/Users?filter=${encodeURIComponent(filter)}`)).toEqual([
        400,
        "400",
        "invalidFilter",
      ]);
    const bad = await fetch(`${on().admin}/scim/v2/Users`, {
      ...{
        method: "POST",
        body: "{",
        headers: { authorization: "Bearer planted-scim-token-0123456789-abcdefgh" },
      },
    });
    expect([bad.status, ((await bad.json()) as any).scimType]).toEqual([400, "invalidSyntax"]);
    const { totalResults } = (await scim("GET", "/Users?count=0")).json;
    const ids: string[] = [];
    for (let start = 1; start <= totalResults; start += 5) {
      const page = (await scim("GET", `/Users?startIndex=${start}&count=5`)).json;
      ids.push(...page.Resources.map(({ id }: any) => id));
    }
    expect([new Set(ids).size, ids.length]).toEqual([totalResults, totalResults]);
    const [some] = (await scim("GET", `/Users?attributes=userName,name.givenName&count=1`)).json.Resources;
    expect(Object.keys(some).sort()).toEqual(["id", "meta", "name", "schemas", "userName"]);
    expect(Object.keys(some.name)).toEqual(["givenName"]);
    expect((await scim("GET", "/ServiceProviderConfig")).json.patch).toEqual({ supported: true });
    expect((await scim("GET", "/Schemas")).json.totalResults).toBe(3);
    expect((await scim("GET", "/ResourceTypes/Group")).json.endpoint).toBe("/Groups");
  });

  test("hostile names stay names", async () => {
    const { created, scim } = bound(on());
    const body = `{"userName":"proto","__proto__":{"active":false},"constructor":{"x":1},"name":{"__proto__":{"a":1},"givenName":"P"},"externalId":"'; DROP TABLE identity_scim_users; --"}`;
    const { status, json } = await scim("POST", "/Users", JSON.parse(body) as object);
    expect([status, json.active, json.constructor]).toEqual([201, true, { x: 1 }]);
    for (const path of ["__proto__.x", "constructor.prototype", "toString", "name.constructor"])
      expect(
        (await scim("PATCH", `/Users/${json.id}`, { Operations: [{ op: "add", path, value: { x: 1 } }] }))
          .status,
      ).toBe(400);
    expect(({} as any).x).toBeUndefined();
    const refused = async (body: object, path = "/Users", method = "POST") =>
      (await scim(method, path, body)).status;
    expect(await refused({ userName: "nul\0" })).toBe(400);
    expect(await refused({ userName: "nul", externalId: "a\0" })).toBe(400);
    expect(await refused({ displayName: "team-nul", members: [{ value: "usr_\0" }] }, "/Groups")).toBe(400);
    expect((await scim("GET", `/Users?filter=${encodeURIComponent('userName eq "\\u0000"')}`)).status).toBe(
      400,
    );
    expect((await scim("GET", "/Users/%00")).status).toBe(404);
    const odd = {
      userName: "odd",
      displayName: "a\u202eb",
      title: "nul\0",
      emails: [{ value: "\0@x" }, { value: "o@x" }],
    };
    expect((await created("/Users", odd)).title).toBe("nul\0");
    const many = Array.from({ length: 40_000 }, (_, n) => ({ value: `${n}@corp.example` }));
    const grow = Array.from({ length: 8 }, () => ({
      op: "add",
      path: "emails",
      value: many.slice(0, 5_000),
    }));
    const began = performance.now();
    expect(await refused({ Operations: grow }, `/Users/${json.id}`, "PATCH")).toBe(413);
    expect(performance.now() - began).toBeLessThan(3_000);
    const twins = await Promise.all(Array.from({ length: 12 }, () => refused({ userName: "twins" })));
    expect(twins.toSorted((a, b) => a - b)).toEqual([201, ...Array<number>(11).fill(409)]);
    const long = await scim("POST", "/Users", { userName: "long", title: "x".repeat(70_000) });
    expect(long.status).toBe(413);
    expect((await created("/Users", { userName: "Ünïcode 名前 %_\\" })).userName).toBe("Ünïcode 名前 %_\\");
  });
}

function describeOptions(on: Gateway): void {
  test("other rules of groups hold for the people in the store; without the option nothing is granted", async () => {
    const { created, person } = bound(on());
    const user = await created("/Users", oktaUser("zoe"));
    await created("/Groups", { displayName: "team-zoe", members: [{ value: user.id }] });
    expect((await person("zoe")).grants).toMatchObject([{ role: "member", on: "/teams/zoe" }]);
    const corp = (groups: object) => ({
      providers: { corp: { ...providerOf(on().issuer.url), groups } },
    });
    await on().reload(corp({ "team-zoe": { viewer: "/z" } }));
    const grants = async () => (await person("zoe")).grants;
    expect(await until(async () => (await grants())[0]?.on === "/z")).toBe(true);
    await on().reload({ ...corp({ "team-zoe": { viewer: "/z" } }), scim: {}, link: undefined });
    expect(await until(async () => (await grants()).length === 0)).toBe(true);
    expect((await on().scim("GET", "/Users")).status).toBe(503);
    await on().reload({});
    expect(await until(async () => (await grants())[0]?.on === "/teams/zoe")).toBe(true);
  });

  test("each change is in the audit log with its sender, and none of it has a name; the books hold", async () => {
    const { entries } = (await on().operate("GET", "/audit/log?limit=500")).json;
    const own = entries.filter(({ actor }: any) => actor === "scim");
    const actions = new Set(own.map(({ action }: any) => action));
    for (const what of [
      "create user",
      "change user",
      "delete user",
      "create group",
      "change group",
      "delete group",
    ])
      expect(actions).toContain(`scim: ${what}`);
    const text = JSON.stringify(own);
    for (const name of ["corp.example", "Doe", "planted"]) expect(text).not.toContain(name);
    expect(on().gateway.run("audit").code).toBe(0);
    const listed = on().gateway.run("people", "list", "carol");
    expect([listed.code, listed.output]).toEqual([0, expect.stringContaining("carol Doe")]);
  });
}
