/** Keys of people: who may call with one, and that nobody may where no part of weir knows people. */
import { expect, test } from "bun:test";
import { Keyring } from "../../../gateway/keyring.ts";
import type { GatewayError } from "../../../core/error.ts";
import { digestOf } from "../../../ledger/keys/form.ts";
import { compileKey } from "../../../ledger/keys/principal.ts";
import { type CheckOwner, KeyForm } from "../../../server/key-form.ts";
import { Known } from "../known.ts";
import { checkOwners } from "../me/owners.ts";
import type { AccessRow } from "../people.ts";

const TEXT = "weir_sk_of_alice_and_nobody_else";
const PERSON = "per_alice";

function formWith(owned?: CheckOwner, path = "/eng/alice") {
  const keyring = new Keyring();
  const entry = { id: "key_a", name: "a", kind: "call", path, tags: [], scopes: {}, person: PERSON } as const;
  keyring.replace([compileKey({ ...entry, digests: [{ sha256: digestOf(TEXT) }] })], true);
  return new KeyForm(keyring, owned);
}

function codeOf(form: KeyForm): string {
  for (const use of [() => form.check(TEXT), () => form.admit(TEXT)])
    try {
      expect(use()).toMatchObject({ person: PERSON, id: "key_a", key: { id: "key_a" } });
    } catch (thrown) {
      return (thrown as GatewayError).code ?? "none";
    }
  return "admitted";
}

const GRANTED = [{ role: "member", on: "/eng", source: "group:eng" }];
const row = (more: Partial<AccessRow> = {}): AccessRow => ({
  ...{ id: PERSON, status: "active", path: null, grants: JSON.stringify(GRANTED), not_before: 0, cut: 0 },
  ...more,
});

function ownersOf(found: AccessRow | undefined, how: { isComplete?: boolean; createUnder?: string } = {}) {
  const { isComplete = true, createUnder } = how;
  const rows = { isComplete, isCurrent: true, get: () => found, values: () => [], listen: () => {} };
  const refused: string[] = [];
  return checkOwners({
    known: new Known(rows, false, () => 0),
    rules: createUnder === undefined ? {} : { createUnder },
    refused: ({ message }) => refused.push(message),
  });
}

test("without a part that knows people no key of a person admits a call", () => {
  expect(codeOf(formWith())).toBe("unknown_person");
});

test.each([
  ["a member", row(), {}, "admitted"],
  ["a manager", row({ grants: grants("manager") }), {}, "admitted"],
  ["an admin of the config", row({ grants: grants("admin", "config") }), {}, "admitted"],
  ["a viewer", row({ grants: grants("viewer") }), {}, "person_unknown"],
  ["an auditor", row({ grants: grants("auditor") }), {}, "person_unknown"],
  ["somebody without a grant any more", row({ grants: "[]" }), {}, "person_unknown"],
  ["somebody whom weir does not know", undefined, {}, "person_unknown"],
  ["a guest", row({ grants: "[]" }), { createUnder: "/eng" }, "admitted"],
  ["a guest elsewhere", row({ grants: "[]" }), { createUnder: "/people" }, "person_unknown"],
  ["somebody suspended", row({ status: "suspended" }), {}, "person_suspended"],
  ["a guest who is suspended", row({ status: "suspended" }), { createUnder: "/eng" }, "person_suspended"],
  ["somebody deleted", row({ status: "deleted" }), {}, "person_suspended"],
  ["somebody, before the first rows", row(), { isComplete: false }, "token_unchecked"],
  ["somebody whose tokens were revoked, which a key is not", row({ not_before: 9e9 }), {}, "admitted"],
])("the key of %s", (_, found, how, expected) => {
  expect(codeOf(formWith(ownersOf(found, how)))).toBe(expected);
});

function grants(role: string, source = "hand"): string {
  return JSON.stringify([{ role, on: "/eng", source }]);
}
