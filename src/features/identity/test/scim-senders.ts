/** What Okta and Entra send, by the documents of the two. */
import { expect, test } from "bun:test";
import { bound, type Gateway, oktaUser } from "./support/scim.ts";

const USER = "urn:ietf:params:scim:schemas:core:2.0:User";
const ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";

export function describeSenders(on: Gateway): void {
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
