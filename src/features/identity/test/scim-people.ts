/** What becomes of people by SCIM: calls, sessions, grants, and who is one person with whom. */
import { expect, test } from "bun:test";
import { until } from "../../../../test/helpers/serving.ts";
import { bound, type Gateway, oktaUser } from "./support/scim.ts";

export function describeAccess(on: Gateway): void {
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

  test("a worker that does not answer: 503, and the same request again waits for it", async () => {
    const { scim, created, everywhere } = bound(on());
    const { id } = await created("/Users", oktaUser("dina"));
    await created("/Groups", { displayName: "team-dina", members: [{ value: id }] });
    const token = await on().token("dina");
    expect(await everywhere(token)).toEqual([200]);
    const [stopped] = on().gateway.workers();
    process.kill(stopped!, "SIGSTOP");
    const Operations = [{ op: "replace", path: "active", value: false }];
    try {
      const silent = await scim("PATCH", `/Users/${id}`, { Operations });
      expect([silent.status, silent.headers.get("retry-after")]).toEqual([503, "5"]);
    } finally {
      process.kill(stopped!, "SIGCONT");
    }
    expect((await scim("PATCH", `/Users/${id}`, { Operations })).status).toBe(200);
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

export function describeIdentity(on: Gateway): void {
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
    const heir = await on().token("heir", { email: "sven@corp.example" });
    expect(await until(async () => (await everywhere(heir)).join() === "403", 1_000)).toBe(true);
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
