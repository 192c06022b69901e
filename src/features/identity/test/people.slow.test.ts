/** People beside their tokens, with four workers: what an operator decides holds for every call that begins after the answer. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type Serving, serve, until } from "../../../../test/helpers/serving.ts";
import { personId } from "../people.ts";
import { Issuer } from "./support/issuer.ts";

setDefaultTimeout(120_000);

const ADMIN = "weir-planted-admin-0001";
const NARROW = "weir-planted-admin-0002";
const PAINTER = `export default { name: "painter", providers: [{ name: "painter", models: ["picture", "film"],
  async *generate(request) {
    yield { type: "message-start", id: "a", model: "picture" };
    yield { type: "block-start", index: 0, block: { type: "text" } };
    yield { type: "block-delta", index: 0, delta: "done by " + process.pid };
    if (JSON.stringify(request).includes("a film")) await new Promise((resolve) => setTimeout(resolve, 15_000));
    yield { type: "block-end", index: 0 };
    const usage = { input: 10, cacheRead: 0, cacheWrite: 0, output: 10, reasoning: 0, known: "final" };
    yield { type: "message-end", reason: { kind: "stop" }, usage };
  } }] };`;

let issuer: Issuer;
let gateway: Serving;
let admin = "";

beforeAll(async () => {
  issuer = await Issuer.start("ES256");
  gateway = await serve({
    workers: 4,
    config: JSON.stringify({
      log: { format: "json" },
      adminKeys: [
        { name: "boss", key: ADMIN, role: "admin" },
        { name: "lead", key: NARROW, role: "admin", path: "/people/alice" },
      ],
      prices: { "painter/*": { input: 0, output: 0 } },
      identity: {
        providers: {
          okta: { issuer: issuer.url, audience: "weir", groups: { "team-*": { member: "/teams/{1}" } } },
        },
      },
    }),
    plugins: { "painter.ts": PAINTER },
  });
  admin = /(http\S+)\/console/.exec(gateway.log.join("\n"))![1]!;
});

afterAll(async () => {
  await gateway?.end();
  await issuer?.stop();
});

const tokenOf = (who: string, more: object = {}) =>
  issuer.token({ sub: who, name: who, email: `${who}@corp.example`, groups: ["team-a"], ...more });

/** Over a connection of its own: the system gives it to one of the workers. */
async function ask(token: string, model = "painter/picture", content = "hello"): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", connection: "close" },
    body: JSON.stringify({ model, stream: true, messages: [{ role: "user", content }] }),
    keepalive: false,
  });
}

async function status(token: string): Promise<number> {
  const answer = await ask(token);
  await answer.text();
  return answer.status;
}

/** One request looks at 10,000 calls at most. */
async function callsOf(person: string): Promise<any[]> {
  const calls: any[] = [];
  let next = "";
  do {
    const { json } = await operate("GET", `/calls?person=${person}&limit=100${next}`);
    calls.push(...json.calls);
    next = json.next === undefined ? "" : `&after=${json.next}`;
  } while (next !== "");
  return calls;
}

const everywhere = async (token: string) =>
  [...new Set(await Promise.all(Array.from({ length: 24 }, () => status(token))))].sort();

async function operate(method: string, path: string, body?: object, key = ADMIN) {
  const answer = await fetch(`${admin}/admin/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, json: (await answer.json()) as any };
}

test("people appear with their calls, and the records name them", async () => {
  const [alice, bob] = await Promise.all([tokenOf("alice"), tokenOf("bob", { azp: "laptop" })]);
  expect(await everywhere(alice)).toEqual([200]);
  expect(await everywhere(bob)).toEqual([200]);
  const id = personId(issuer.url, "bob");
  const people = async () => (await operate("GET", "/people")).json.people as any[];
  expect(await until(async () => (await people()).length === 2)).toBe(true);
  expect((await people()).find((one) => one.id === id)).toMatchObject({
    ...{
      name: "bob",
      email: "bob@corp.example",
      path: "/people/bob",
      isPathSet: false,
      status: "active",
      grants: [],
    },
    ...{ issuer: issuer.url, subject: "bob", source: "token" },
  });
  const calls = () => callsOf(id);
  expect(await until(async () => (await calls()).length === 24)).toBe(true);
  expect((await calls())[0]).toMatchObject({
    ...{ person: id, personName: "bob", via: "jwt/okta", clientId: "laptop", path: "/people/bob" },
  });
  const listed = gateway.run("people", "list", "ALICE");
  expect(listed.code).toBe(0);
  expect(listed.output).toContain("/people/alice");
  expect(listed.output).not.toContain("/people/bob");
});

test("a suspension under load: no call that begins after the answer passes, and restoring lets them in again", async () => {
  const token = await tokenOf("carol");
  expect(await everywhere(token)).toEqual([200]);
  const found: { began: number; status: number }[] = [];
  let isOver = false;
  const caller = async () => {
    while (!isOver) {
      const began = performance.now();
      found.push({ began, status: await status(token) });
    }
  };
  for (let round = 0; round < 5; round++) {
    found.length = 0;
    isOver = false;
    const callers = Array.from({ length: 24 }, caller);
    await Bun.sleep(150);
    const { status: answered } = await operate("PATCH", "/people/carol", { status: "suspended" });
    const at = performance.now();
    expect(answered).toBe(200);
    await Bun.sleep(300);
    isOver = true;
    await Promise.all(callers);
    const late = found.filter(({ began }) => began > at);
    expect(late.length).toBeGreaterThan(20);
    expect(late.filter(({ status: one }) => one !== 403)).toEqual([]);
    expect(found.some(({ status: one }) => one === 200)).toBe(true);
    expect((await operate("PATCH", "/people/carol", { status: "active" })).json.status).toBe("active");
    expect(await everywhere(token)).toEqual([200]);
  }
});

test("with cut, running answers end with an error; without it they end by themselves", async () => {
  const token = await tokenOf("dave");
  const other = await tokenOf("erin");
  const films = await Promise.all(Array.from({ length: 8 }, () => ask(token, "painter/film", "a film")));
  const kept = await ask(other, "painter/film", "a film");
  // Each answer has begun, as its head is there.
  const texts = films.map(readAll);
  expect((await ask(await tokenOf("dave", { jti: "first" }))).status).toBe(200);
  expect(await until(async () => (await operate("GET", "/people/dave")).status === 200)).toBe(true);
  const began = performance.now();
  expect(gateway.run("people", "suspend", "dave", "--cut").output).toContain("is suspended");
  for (const text of await Promise.all(texts)) expect(text).toContain("person_suspended");
  expect(performance.now() - began).toBeLessThan(12_000);
  expect(await readAll(kept)).toContain("[DONE]");
});

test("tokens: one by its id, or all that were issued up to now; new ones are admitted", async () => {
  const [one, two] = await Promise.all([tokenOf("finn", { jti: "t1" }), tokenOf("finn", { jti: "t2" })]);
  expect([await everywhere(one), await everywhere(two)]).toEqual([[200], [200]]);
  expect(gateway.run("tokens", "revoke", "--issuer", issuer.url, "--jti", "t1").code).toBe(0);
  expect([await everywhere(one), await everywhere(two)]).toEqual([[401], [200]]);
  expect(await until(async () => (await operate("GET", "/people/finn")).status === 200)).toBe(true);
  expect(gateway.run("tokens", "revoke", "--person", "finn").code).toBe(0);
  expect([await everywhere(one), await everywhere(two)]).toEqual([[401], [401]]);
  const later = Math.floor(Date.now() / 1_000) + 2;
  expect(await everywhere(await tokenOf("finn", { jti: "t3", iat: later, nbf: later - 10 }))).toEqual([200]);
});

test("somebody in no group: unknown, until an operator adds the person; grants and path are by hand", async () => {
  const token = await tokenOf("gina", { groups: ["others"] });
  expect(await everywhere(token)).toEqual([403]);
  const added = gateway.run(
    "people",
    "add",
    issuer.url,
    "gina",
    "--path",
    "/people/guests",
    "--name",
    "Gina",
  );
  expect([added.code, added.output]).toEqual([
    0,
    expect.stringContaining("may use models at /people/guests"),
  ]);
  expect(await everywhere(token)).toEqual([200]);
  const id = personId(issuer.url, "gina");
  const calls = () => callsOf(id);
  expect(await until(async () => (await calls()).length === 24)).toBe(true);
  expect(new Set((await calls()).map(({ path }) => path))).toEqual(new Set(["/people/guests"]));
  expect(gateway.run("people", "grant", id, "--grant", "none").code).toBe(0);
  expect(await everywhere(token)).toEqual([403]);
  expect((await operate("POST", "/people", { issuer: issuer.url, subject: "gina", path: "/x" })).status).toBe(
    409,
  );
});

test("an admin of a path sees and changes people there alone, and grants nothing elsewhere", async () => {
  const as = (method: string, path: string, body?: object) => operate(method, path, body, NARROW);
  expect((await as("GET", "/people")).json.people.map(({ name }: any) => name)).toEqual(["alice"]);
  expect((await as("GET", "/people/bob")).status).toBe(404);
  expect((await as("GET", `/people/${personId(issuer.url, "bob")}`)).status).toBe(404);
  expect((await as("PATCH", "/people/bob", { status: "suspended" })).status).toBe(404);
  const grants = (on: string) => ({ grants: [{ role: "admin", on }] });
  expect((await as("PATCH", "/people/alice", grants("/"))).status).toBe(403);
  expect((await as("PATCH", "/people/alice", grants("/people"))).status).toBe(403);
  expect((await as("PATCH", "/people/alice", { path: "/people/bob" })).status).toBe(403);
  expect((await as("PATCH", "/people/alice", grants("/people/alice/x"))).status).toBe(200);
  expect(
    (await as("POST", "/people", { issuer: issuer.url, subject: "x", path: "/people/bob" })).status,
  ).toBe(403);
  expect((await as("POST", "/tokens/revoke", { issuer: issuer.url, jti: "x" })).status).toBe(403);
});

test("a forgotten person has no name and no access; calls and books stay, and each step is in the audit log", async () => {
  const token = await tokenOf("bob");
  expect(gateway.run("people", "forget", "bob", "--yes").code).toBe(0);
  expect(await everywhere(token)).toEqual([403]);
  const id = personId(issuer.url, "bob");
  expect((await operate("GET", `/people/${id}`)).json).toMatchObject({ name: "", status: "deleted" });
  expect((await callsOf(id)).length).toBeGreaterThan(20);
  const log = gateway.run("audit", "log").output;
  for (const action of [
    "people seen",
    "suspend person",
    "change person",
    "revoke token",
    "add person",
    "forget person",
  ])
    expect(log).toContain(action);
  expect(gateway.run("audit").code).toBe(0);
});

/** A stream that failed ends with its error event, and weir closes the connection before the end of the body. */
async function readAll(answer: Response): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  try {
    for await (const bytes of answer.body!) text += decoder.decode(bytes, { stream: true });
  } catch {
    return text;
  }
  return text;
}
