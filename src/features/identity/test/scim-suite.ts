/** SCIM against a real gateway: what Okta and Entra send, and what becomes of people, calls and sessions. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../../../../test/helpers/serving.ts";
import { providerOf, ScimGateway } from "./support/scim.ts";

const USER = "urn:ietf:params:scim:schemas:core:2.0:User";
const ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";

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

type Gateway = () => ScimGateway;

const oktaUser = (name: string, more: object = {}) => ({
  schemas: [USER],
  userName: `${name}@corp.example`,
  name: { givenName: name, familyName: "Doe" },
  emails: [{ primary: true, value: `${name}@corp.example`, type: "work" }],
  displayName: `${name} Doe`,
  locale: "en-US",
  externalId: name,
  groups: [],
  password: "planted-password-1mz050nq",
  active: true,
  ...more,
});

function describeSenders(on: Gateway): void {
  test("Okta: connection test, create, change by PUT, deactivate, reactivate, push of groups", async () => {
    const { scim, created, patched, person } = bound(on());
    const filter = encodeURIComponent('userName eq "isaac@corp.example"');
    expect((await scim("GET", "/Users?startIndex=1&count=2")).json).toMatchObject({ startIndex: 1 });
    expect((await scim("GET", `/Users?filter=${filter}&startIndex=1&count=100`)).json).toMatchObject({
      ...{ totalResults: 0, startIndex: 1, itemsPerPage: 0, Resources: [] },
    });
    const user = await created("/Users", oktaUser("isaac"));
    expect(user).toMatchObject({ externalId: "isaac", active: true, locale: "en-US" });
    expect(user.password).toBeUndefined();
    expect(user.meta).toMatchObject({
      ...{ resourceType: "User", location: `${on().admin}/scim/v2/Users/${user.id}` },
    });
    expect((await scim("POST", "/Users", oktaUser("ISAAC", { externalId: "x" }))).json).toMatchObject({
      ...{ status: "409", scimType: "uniqueness" },
    });
    expect((await scim("POST", "/Users", oktaUser("isaac2", { externalId: "isaac" }))).status).toBe(409);
    const found = await scim("GET", `/Users?filter=${filter}&startIndex=1&count=100`);
    expect(found.json.Resources.map(({ id }: any) => id)).toEqual([user.id]);
    const body = { ...oktaUser("isaac"), id: user.id, name: { givenName: "Isaac", familyName: "Brock" } };
    const changed = await scim("PUT", `/Users/${user.id}`, {
      ...body,
      displayName: undefined,
      title: "Singer",
    });
    expect(changed.json).toMatchObject({ title: "Singer", name: { familyName: "Brock" } });
    expect(changed.json.displayName).toBeUndefined();
    expect(await person("isaac")).toMatchObject({ name: "Isaac Brock", status: "active", source: "scim" });
    // Okta never deletes.
    expect((await scim("PUT", `/Users/${user.id}`, { ...body, active: false })).json.active).toBe(false);
    expect((await person("isaac")).status).toBe("suspended");
    // A whole user without these two does not bring anybody back, or cut the tie to the person.
    const { active: _, externalId: __, ...partly } = body;
    expect((await scim("PUT", `/Users/${user.id}`, partly)).json).toMatchObject({
      ...{ active: false, externalId: "isaac" },
    });
    expect((await person("isaac")).status).toBe("suspended");
    const replaced = await patched(`/Users/${user.id}`, { op: "replace", value: { active: true } });
    expect(replaced.active).toBe(true);
    expect((await person("isaac")).status).toBe("active");

    const other = await created("/Users", oktaUser("jim"));
    const group = await created("/Groups", {
      schemas: ["urn:ietf:params:scim:schemas:core:2.0:Group"],
      ...{ displayName: "team-okta", members: [{ value: user.id, display: "isaac@corp.example" }] },
    });
    expect(group.members).toEqual([
      { value: user.id, $ref: `${on().admin}/scim/v2/Users/${user.id}`, type: "User" },
    ]);
    expect((await scim("GET", `/Users/${user.id}`)).json.groups).toMatchObject([
      { value: group.id, display: "team-okta" },
    ]);
    await patched(
      `/Groups/${group.id}`,
      { op: "remove", path: `members[value eq "${user.id}"]` },
      { op: "add", path: "members", value: [{ value: other.id, display: "jim@corp.example" }] },
      { op: "replace", value: { id: group.id, displayName: "team-okta2" } },
    );
    const after = (await scim("GET", `/Groups/${group.id}`)).json;
    expect([after.displayName, after.members.map(({ value }: any) => value)]).toEqual([
      "team-okta2",
      [other.id],
    ]);
    expect((await person("isaac")).grants).toEqual([]);
    expect((await person("jim")).grants).toEqual([
      { role: "member", on: "/teams/okta2", source: "scim:team-okta2" },
    ]);
    const whole = { displayName: "team-okta2", members: [{ value: user.id }, { value: other.id }] };
    expect((await scim("PUT", `/Groups/${group.id}`, whole)).json.members).toHaveLength(2);
    await patched(`/Groups/${group.id}`, { op: "replace", path: "members", value: [{ value: user.id }] });
    expect((await person("jim")).grants).toEqual([]);
    expect((await scim("DELETE", `/Groups/${group.id}`)).status).toBe(204);
    expect((await person("isaac")).grants).toEqual([]);
    expect((await scim("GET", `/Groups/${group.id}`)).status).toBe(404);
  });

  test("Entra: its way to write booleans, operations, paths and members", async () => {
    const { scim, created, patched, person } = bound(on());
    const list = await scim("GET", `/Users?filter=${encodeURIComponent('userName eq "0b4a-no-such-user"')}`);
    expect([list.status, list.json.totalResults, list.json.Resources]).toEqual([200, 0, []]);
    const user = await created("/Users", {
      schemas: [USER, ENTERPRISE],
      ...{ externalId: "oid-1", userName: "bjensen@corp.example", active: "True", displayName: "B. Jensen" },
      ...{ meta: { resourceType: "User" }, name: { formatted: "B Jensen", givenName: "B", familyName: "J" } },
      ...{ roles: [], nickName: null, favouriteColour: "blue" },
      [ENTERPRISE]: { department: "D1", employeeNumber: "7", unit: "kept" },
    });
    expect(user).toMatchObject({
      ...{ active: true, favouriteColour: "blue", schemas: [USER, ENTERPRISE] },
      [ENTERPRISE]: { department: "D1", employeeNumber: "7", unit: "kept" },
    });
    const path = `/Users/${user.id}`;
    const work = 'emails[type eq "work"].value';
    expect((await patched(path, { op: "Replace", path: work, value: "b@corp.example" })).emails).toEqual([
      { type: "work", value: "b@corp.example" },
    ]);
    const byMail = (filter: string) => scim("GET", `/Users?filter=${encodeURIComponent(filter)}`);
    expect((await byMail(`${work} eq "B@corp.example"`)).json.totalResults).toBe(1);
    expect((await byMail('emails[type eq "home"].value eq "b@corp.example"')).json.totalResults).toBe(0);
    expect((await byMail('emails.value eq "b@corp.example" and active eq true')).json.totalResults).toBe(1);
    expect((await byMail('emails.value eq "_@corp.example"')).json.totalResults).toBe(0);
    expect((await byMail('DisplayName eq "b. jensen" AND externalId eq "oid-1"')).json.totalResults).toBe(1);
    expect((await byMail('externalId eq "OID-1"')).json.totalResults).toBe(0);
    const changed = await patched(
      path,
      { op: "Add", path: `${ENTERPRISE}:manager`, value: "oid-2" },
      { op: "Replace", path: `${ENTERPRISE}:department`, value: "D2" },
      { op: "Add", path: 'addresses[type eq "work"].locality', value: "Bonn" },
      { op: "Add", path: 'roles[primary eq "True"].value', value: "writer" },
      {
        op: "Replace",
        value: { "name.givenName": "Barbara", [`${ENTERPRISE}:costCenter`]: "C1", active: "True" },
      },
    );
    expect(changed).toMatchObject({
      name: { givenName: "Barbara", familyName: "J" },
      addresses: [{ type: "work", locality: "Bonn" }],
      roles: [{ primary: true, value: "writer" }],
      [ENTERPRISE]: { manager: { value: "oid-2" }, department: "D2", costCenter: "C1", unit: "kept" },
    });
    await patched(path, { op: "Replace", path: "active", value: "False" });
    expect((await person("oid-1")).status).toBe("suspended");
    await patched(path, { op: "replace", value: { active: true, "name.familyName": "Jensen" } });
    expect((await person("oid-1")).status).toBe("active");
    expect((await patched(path, { op: "Remove", path: "displayName" })).displayName).toBeUndefined();

    const group = await created("/Groups", {
      schemas: ["urn:ietf:params:scim:schemas:core:2.0:Group"],
      ...{ externalId: "8aa1", displayName: "team-entra", members: [], meta: { resourceType: "Group" } },
    });
    const members = (op: string) => ({ op, path: "members", value: [{ $ref: null, value: user.id }] });
    expect(await patched(`/Groups/${group.id}`, members("Add"))).toBeUndefined();
    expect((await person("oid-1")).grants).toMatchObject([{ on: "/teams/entra", source: "scim:team-entra" }]);
    const isMember = `id eq "${group.id}" and members eq "${user.id}"`;
    const asked = `/Groups?excludedAttributes=members&filter=${encodeURIComponent(isMember)}`;
    expect((await scim("GET", asked)).json.Resources[0].members).toBeUndefined();
    await patched(`/Groups/${group.id}`, members("Remove"));
    expect((await scim("GET", asked)).json.totalResults).toBe(0);
    expect((await person("oid-1")).grants).toEqual([]);
    expect((await scim("DELETE", path)).status).toBe(204);
    expect((await scim("GET", path)).status).toBe(404);
  });

  test("several operations are one: the fault of the last one undoes all", async () => {
    const { scim, created } = bound(on());
    const { id } = await created("/Users", oktaUser("atom"));
    const fault = async (...Operations: object[]) => {
      const { status, json } = await scim("PATCH", `/Users/${id}`, { Operations });
      return [status, json.scimType];
    };
    const good = { op: "replace", path: "title", value: "changed" };
    expect(await fault(good, { op: "replace", path: "noSuch", value: 1 })).toEqual([400, "invalidPath"]);
    expect(await fault(good, { op: "replace", path: "name.noSuch", value: 1 })).toEqual([400, "invalidPath"]);
    expect(await fault(good, { op: "replace", path: "emails[type", value: 1 })).toEqual([400, "invalidPath"]);
    expect(await fault(good, { op: "replace", path: 'emails[type gt "a"].value', value: 1 })).toEqual([
      ...[400, "invalidFilter"],
    ]);
    expect(await fault(good, { op: "replace", path: "active", value: "perhaps" })).toEqual([
      400,
      "invalidValue",
    ]);
    expect(await fault(good, { op: "replace", path: "id", value: "usr_1" })).toEqual([400, "mutability"]);
    expect(await fault(good, { op: "remove", path: "userName" })).toEqual([400, "invalidValue"]);
    expect(await fault(good, { op: "remove" })).toEqual([400, "noTarget"]);
    expect(await fault(good, { op: "move", path: "title" })).toEqual([400, "invalidSyntax"]);
    expect(await fault(good, { op: "replace", path: "userName", value: "isaac@corp.example" })).toEqual([
      ...[409, "uniqueness"],
    ]);
    expect((await scim("GET", `/Users/${id}`)).json.title).toBeUndefined();
    const group = await created("/Groups", { displayName: "team-atom" });
    const unknown = { op: "add", path: "members", value: [{ value: id }, { value: "usr_none" }] };
    const refused = await scim("PATCH", `/Groups/${group.id}`, { Operations: [unknown] });
    expect([refused.status, refused.json.scimType]).toEqual([400, "invalidValue"]);
    expect((await scim("GET", `/Groups/${group.id}`)).json.members).toBeUndefined();
  });
}

function describeAccess(on: Gateway): void {
  test("active: false ends calls, weir's own tokens and sessions within a second; true brings them back", async () => {
    const { created, patched, person, everywhere } = bound(on());
    const user = await created("/Users", oktaUser("carol"));
    const admins = await created("/Groups", { displayName: "llm-admins", members: [{ value: user.id }] });
    const token = await on().token("carol");
    expect(await everywhere(token)).toEqual([200]);
    const own = await on().exchange(token);
    expect(await everywhere(own)).toEqual([200]);
    const { browser } = await on().signIn("carol");
    const session = async () => (await browser.go("/admin/v1/keys")).status;
    expect(await session()).toBe(200);
    const set = (active: unknown) =>
      patched(`/Users/${user.id}`, { op: "Replace", path: "active", value: active });
    for (let round = 0; round < 3; round++) {
      const found: { began: number; status: number }[] = [];
      let isOver = false;
      const caller = async () => {
        while (!isOver) {
          const began = performance.now();
          found.push({ began, status: await on().call(round % 2 ? own : token) });
        }
      };
      const callers = Array.from({ length: 8 }, caller);
      await Bun.sleep(150);
      await set("False");
      const at = performance.now();
      await Bun.sleep(200);
      isOver = true;
      await Promise.all(callers);
      const late = found.filter(({ began }) => began > at);
      expect(late.length).toBeGreaterThan(0);
      expect(late.filter(({ status }) => status !== 403)).toEqual([]);
      expect([await everywhere(token), await everywhere(own)]).toEqual([[403], [403]]);
      expect(await until(async () => (await session()) !== 200, 1_000)).toBe(true);
      expect((await on().signIn("carol")).status).toBe(403);
      await set(true);
      expect([await everywhere(token), await everywhere(own)]).toEqual([[200], [200]]);
      expect((await person("carol")).status).toBe("active");
    }
    expect((await on().scim("DELETE", `/Groups/${admins.id}`)).status).toBe(204);
    expect(await everywhere(token)).toEqual([403]);
  });

  test("DELETE ends access and wipes the name; calls stay; with the same externalId the person is back", async () => {
    const { scim, created, person, everywhere } = bound(on());
    const user = await created("/Users", oktaUser("dora"));
    const group = await created("/Groups", { displayName: "team-dora", members: [{ value: user.id }] });
    const token = await on().token("dora");
    expect(await everywhere(token)).toEqual([200]);
    await on().operate("PATCH", `/people/${on().idOf("dora")}`, { grants: [{ role: "viewer", on: "/" }] });
    expect((await scim("DELETE", `/Users/${user.id}`)).status).toBe(204);
    expect(await everywhere(token)).toEqual([403]);
    expect(await person("dora")).toMatchObject({ name: "", status: "deleted", grants: [] });
    const calls = async () =>
      (await on().operate("GET", `/calls?person=${on().idOf("dora")}`)).json.calls.length;
    expect(await until(async () => (await calls()) > 10)).toBe(true);
    expect((await scim("GET", `/Groups/${group.id}`)).json.members).toBeUndefined();
    const again = await created("/Users", oktaUser("dora"));
    expect(again.id).not.toBe(user.id);
    expect(await person("dora")).toMatchObject({ name: "dora Doe", status: "active", grants: [] });
    expect(await everywhere(token)).toEqual([403]);
    await on().patched(`/Groups/${group.id}`, { op: "add", path: "members", value: [{ value: again.id }] });
    expect(await everywhere(token)).toEqual([200]);
    // With another one it is somebody else.
    expect((await scim("DELETE", `/Users/${again.id}`)).status).toBe(204);
    await created("/Users", oktaUser("dora", { externalId: "dora-2" }));
    expect((await person("dora")).status).toBe("deleted");
    expect((await person("dora-2")).status).toBe("active");
  });

  test("groups in groups, a new name, and grants of others, which stay", async () => {
    const { created, patched, person } = bound(on());
    const user = await created("/Users", oktaUser("nell"));
    const inner = await created("/Groups", { displayName: "inner", members: [{ value: user.id }] });
    const outer = await created("/Groups", { displayName: "team-outer", members: [{ value: inner.id }] });
    const sources = async () => (await person("nell")).grants.map(({ source }: any) => source);
    expect(await sources()).toEqual(["scim:team-outer"]);
    // In a circle.
    await patched(`/Groups/${inner.id}`, { op: "add", path: "members", value: [{ value: outer.id }] });
    await on().operate("PATCH", `/people/${on().idOf("nell")}`, { grants: [{ role: "viewer", on: "/x" }] });
    expect((await on().signIn("nell", { groups: ["readers"] })).status).toBe(303);
    expect((await sources()).sort()).toEqual(["group:readers", "hand", "scim:team-outer"]);
    await patched(`/Groups/${outer.id}`, { op: "replace", value: { displayName: "team-renamed" } });
    expect((await person("nell")).grants).toContainEqual({
      ...{ role: "member", on: "/teams/renamed", source: "scim:team-renamed" },
    });
    expect((await on().signIn("nell")).status).toBe(303);
    expect((await sources()).sort()).toEqual(["hand", "scim:team-renamed"]);
    await patched(`/Groups/${inner.id}`, { op: "remove", path: "members" });
    expect(await sources()).toEqual(["hand"]);
    expect((await on().scim("POST", "/Groups", { displayName: "TEAM-renamed" })).json.scimType).toBe(
      "uniqueness",
    );
  });

  test("whom an operator has suspended, SCIM does not restore, in whatever order", async () => {
    const { created, patched, person } = bound(on());
    const { id } = await created("/Users", oktaUser("olaf"));
    const set = (active: boolean) => patched(`/Users/${id}`, { op: "replace", value: { active } });
    const operate = (status: string) => on().operate("PATCH", `/people/${on().idOf("olaf")}`, { status });
    await operate("suspended");
    await set(false);
    await set(true);
    expect((await person("olaf")).status).toBe("suspended");
    await operate("active");
    await set(false);
    await operate("suspended");
    await set(true);
    expect((await person("olaf")).status).toBe("suspended");
  });
}

function describeIdentity(on: Gateway): void {
  const count = async (mail: string) =>
    (await on().operate("GET", `/people?q=${encodeURIComponent(mail)}`)).json.people.length;
  const nameless = (name: string, more: object = {}) => ({
    ...oktaUser(name),
    externalId: undefined,
    ...more,
  });

  test("SCIM first then a sign-in, a sign-in first then SCIM, a token first: one person", async () => {
    const { created, person, everywhere } = bound(on());
    await created("/Users", oktaUser("pia"));
    expect((await on().signIn("pia", { groups: ["readers"] })).status).toBe(303);
    expect([await count("pia@"), (await person("pia")).source]).toEqual([1, "scim"]);
    expect((await on().signIn("quinn", { groups: ["readers"] })).status).toBe(303);
    await created("/Users", oktaUser("quinn"));
    expect([await count("quinn@"), (await person("quinn")).source]).toEqual([1, "sign-in"]);
    expect(await everywhere(await on().token("rosa", { groups: ["team-r"] }))).toEqual([200]);
    expect(await until(async () => (await count("rosa@")) === 1)).toBe(true);
    await created("/Users", oktaUser("rosa"));
    expect(await count("rosa@")).toBe(1);
  });

  test("without externalId the verified address tells who it is: by a token, a sign-in, or from before", async () => {
    const { created, patched, person, everywhere } = bound(on());
    // SCIM first, then a token.
    const user = await created("/Users", nameless("sven"));
    const group = await created("/Groups", { displayName: "team-wait", members: [{ value: user.id }] });
    const listed = (await on().operate("GET", "/people?q=sven")).json.people;
    expect(listed).toMatchObject([{ id: expect.stringMatching(/^wait_/), subject: "", status: "active" }]);
    const token = await on().token("sven", { email: "Sven@corp.example" });
    expect(await everywhere(await on().token("sven", { email_verified: false }))).toEqual([403]);
    expect(await everywhere(await on().token("other", { email: "sven2@corp.example" }))).toEqual([403]);
    expect(await everywhere(token)).toEqual([200]);
    const isJoined = async () => (await person("sven")).grants?.[0]?.source === "scim:team-wait";
    expect(await until(isJoined)).toBe(true);
    expect(await count("sven@")).toBe(1);
    // From now on it is the subject that counts: an address that moves on to somebody else gives nothing.
    expect(await everywhere(await on().token("heir", { email: "sven@corp.example" }))).toEqual([403]);
    await patched(`/Users/${user.id}`, { op: "replace", path: "active", value: false });
    expect(await everywhere(token)).toEqual([403]);
    expect((await on().scim("DELETE", `/Groups/${group.id}`)).status).toBe(204);
    // SCIM first, then a sign-in.
    const second = await created("/Users", nameless("tina"));
    await created("/Groups", { displayName: "readers", members: [{ value: second.id }] });
    expect((await on().signIn("tina")).status).toBe(303);
    expect([await count("tina@"), (await person("tina")).grants[0].source]).toEqual([1, "scim:readers"]);
    // A token first.
    expect(await everywhere(await on().token("uwe", { groups: ["team-u"] }))).toEqual([200]);
    expect(await until(async () => (await count("uwe@")) === 1)).toBe(true);
    const third = await created("/Users", nameless("uwe"));
    await patched(`/Users/${third.id}`, { op: "replace", path: "active", value: "false" });
    expect([await count("uwe@"), (await person("uwe")).status]).toEqual([1, "suspended"]);
  });

  test("a user who waits and is suspended is not let in by a token that nobody has seen", async () => {
    const { created, patched, everywhere } = bound(on());
    const user = await created("/Users", nameless("vera", { active: false }));
    const token = await on().token("vera", { groups: ["team-v"] });
    expect(await everywhere(token)).toEqual([403]);
    expect((await on().signIn("vera", { groups: ["readers"] })).status).toBe(403);
    await patched(`/Users/${user.id}`, { op: "replace", path: "active", value: true });
    expect(await everywhere(token)).toEqual([200]);
  });

  test("one address of two users, or one that is not verified, makes nobody one person", async () => {
    const { created, everywhere, person } = bound(on());
    const shared = { emails: [{ value: "desk@corp.example", primary: true }] };
    const one = await created("/Users", nameless("wim", shared));
    await created("/Users", nameless("xena", shared));
    await created("/Groups", { displayName: "team-desk", members: [{ value: one.id }] });
    expect(await everywhere(await on().token("desk"))).toEqual([403]);
    expect(await count("desk@")).toBe(0);
    const unverified = { email: "twin@corp.example", email_verified: false, groups: ["team-t"] };
    expect(await everywhere(await on().token("twin-1", unverified))).toEqual([200]);
    expect(await everywhere(await on().token("twin-2", unverified))).toEqual([200]);
    expect(await until(async () => (await count("twin@")) === 2)).toBe(true);
    const user = await created("/Users", nameless("twin"));
    await on().patched(`/Users/${user.id}`, { op: "replace", value: { active: false } });
    expect([(await person("twin-1")).status, (await person("twin-2")).status]).toEqual(["active", "active"]);
  });

  test("an externalId that comes later, or is another one, moves what is granted", async () => {
    const { created, patched, person, scim } = bound(on());
    const user = await created("/Users", nameless("yara", { emails: undefined, userName: "yara" }));
    await created("/Groups", { displayName: "team-late", members: [{ value: user.id }] });
    await patched(`/Users/${user.id}`, { op: "add", path: "externalId", value: "yara-1" });
    expect((await person("yara-1")).grants).toHaveLength(1);
    await patched(`/Users/${user.id}`, { op: "replace", value: { externalId: "yara-2" } });
    expect([(await person("yara-1")).grants, (await person("yara-2")).grants.length]).toEqual([[], 1]);
    expect((await scim("PUT", `/Users/${user.id}`, { userName: "yara", externalId: null })).status).toBe(200);
    expect((await person("yara-2")).grants).toEqual([]);
  });
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

/** The methods of a gateway, without it in front of each. */
function bound(on: ScimGateway) {
  return {
    scim: on.scim.bind(on),
    created: on.created.bind(on),
    patched: on.patched.bind(on),
    person: on.person.bind(on),
    everywhere: on.everywhere.bind(on),
  };
}
