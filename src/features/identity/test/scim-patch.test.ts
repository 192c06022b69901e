/** Operations of PATCH on documents: the examples of RFC 7644 3.5.2, and what senders write besides. */
import { expect, test } from "bun:test";
import type { JsonObject } from "../../../core/json.ts";
import type { ScimFault } from "../scim/fault.ts";
import { operationsIn, Patch } from "../scim/patch.ts";

const ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
const CUSTOM = "urn:ietf:params:scim:schemas:extension:corp:2.0:User";

function patched(document: JsonObject, ...Operations: object[]): JsonObject {
  return new Patch("User", "usr_1", document).apply(operationsIn({ Operations: Operations as JsonObject[] }));
}

const work = { type: "work", value: "a@corp.example", primary: true };
const home = { type: "home", value: "a@home.example" };

const CHANGES: readonly [string, JsonObject, object, JsonObject][] = [
  [
    "adds to a list",
    { emails: [work] },
    { op: "add", path: "emails", value: [home] },
    { emails: [work, home] },
  ],
  [
    "adds nothing twice",
    { emails: [work] },
    { op: "add", path: "emails", value: [work] },
    { emails: [work] },
  ],
  [
    "a new primary value takes the place of the former one",
    { emails: [work] },
    { op: "add", path: "emails", value: { ...home, primary: true } },
    {
      emails: [
        { ...work, primary: false },
        { ...home, primary: true },
      ],
    },
  ],
  [
    "adds several attributes",
    {},
    { op: "add", value: { emails: [home], nickname: "Babs" } },
    { emails: [home], nickName: "Babs" },
  ],
  [
    "replaces a list",
    { emails: [work] },
    { op: "replace", path: "emails", value: [home] },
    { emails: [home] },
  ],
  [
    "replaces a part of one value",
    { emails: [work, home] },
    { op: "replace", path: 'emails[type eq "home"].value', value: "b@home.example" },
    { emails: [work, { ...home, value: "b@home.example" }] },
  ],
  [
    "a complex attribute keeps its other parts",
    { name: { givenName: "A", familyName: "B" } },
    { op: "replace", path: "name", value: { givenName: "C" } },
    { name: { givenName: "C", familyName: "B" } },
  ],
  [
    "removes one value by a filter of two conditions",
    { emails: [work, home] },
    { op: "remove", path: 'emails[type eq "work" and value eq "a@corp.example"]' },
    { emails: [home] },
  ],
  [
    "removes values that are listed",
    { emails: [work, home] },
    { op: "remove", path: "emails", value: [{ value: work.value }] },
    { emails: [home] },
  ],
  [
    "the last value takes the list with it",
    { emails: [work] },
    { op: "remove", path: 'emails[type eq "WORK"]' },
    {},
  ],
  [
    "the last part takes the attribute with it",
    { name: { givenName: "A" } },
    { op: "Remove", path: "name.givenName" },
    {},
  ],
  [
    "what is not there cannot be removed",
    { title: "x" },
    { op: "remove", path: 'emails[type eq "fax"]' },
    { title: "x" },
  ],
  ["null is no value", { title: "x" }, { op: "replace", path: "title", value: null }, {}],
  [
    "a URN in front of an attribute of the core",
    {},
    { op: "add", path: "urn:ietf:params:scim:schemas:core:2.0:User:name.familyName", value: "B" },
    { name: { familyName: "B" } },
  ],
  [
    "an extension, by one path and as a whole",
    { [ENTERPRISE]: { department: "D" } },
    { op: "replace", value: { [`${ENTERPRISE}:costCenter`]: "C", [ENTERPRISE]: { division: "V" } } },
    { [ENTERPRISE]: { department: "D", costCenter: "C", division: "V" } },
  ],
  ["an extension goes", { [ENTERPRISE]: { department: "D" } }, { op: "remove", path: ENTERPRISE }, {}],
  [
    "an extension of somebody else",
    {},
    { op: "add", path: `${CUSTOM}:badge`, value: { colour: "red" } },
    { [CUSTOM]: { badge: { colour: "red" } } },
  ],
  ["a password is not kept", {}, { op: "replace", path: "password", value: "planted" }, {}],
  ["booleans as texts", {}, { op: "Add", path: "active", value: "TRUE" }, { active: true }],
  ["the own id may be repeated", {}, { op: "replace", value: { id: "usr_1", title: "x" } }, { title: "x" }],
];

test.each(CHANGES)("%s", (_, document, operation, expected) => {
  const before = structuredClone(document);
  expect(patched(document, operation)).toEqual(expected);
  expect(document).toEqual(before);
});

const FAULTS: readonly [object, string][] = [
  [{ op: "replace", path: "nothing", value: 1 }, "invalidPath"],
  [{ op: "replace", path: "name.nothing", value: 1 }, "invalidPath"],
  [{ op: "replace", path: `${ENTERPRISE}:nothing`, value: 1 }, "invalidPath"],
  [{ op: "replace", path: 'name[givenName eq "a"].familyName', value: 1 }, "invalidPath"],
  [{ op: "replace", path: "emails[", value: 1 }, "invalidPath"],
  [{ op: "replace", path: "emails[type].value", value: 1 }, "invalidFilter"],
  [{ op: "replace", path: 'emails[not (type eq "a")].value', value: 1 }, "invalidFilter"],
  [{ op: "replace", path: "meta.created", value: 1 }, "mutability"],
  [{ op: "replace", path: "groups", value: [] }, "mutability"],
  [{ op: "replace", value: { id: "usr_2" } }, "mutability"],
  [{ op: "replace", value: "x" }, "invalidValue"],
  [{ op: "replace", path: "name", value: "x" }, "invalidValue"],
  [{ op: "add", path: "title" }, "invalidValue"],
  [{ op: "remove" }, "noTarget"],
  [{ op: "test", path: "title" }, "invalidSyntax"],
];

test.each(FAULTS)("%j is refused", (operation, scimType) => {
  let fault: ScimFault | undefined;
  try {
    patched({ title: "x" }, operation);
  } catch (thrown) {
    fault = thrown as ScimFault;
  }
  expect([fault?.status, fault?.scimType]).toEqual([400, scimType as never]);
});
