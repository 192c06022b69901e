/** Who asks: keys alone decide as before; with more forms a text belongs to one form, and a request to one caller. */
import { expect, test } from "bun:test";
import { GatewayError } from "../../src/core/error.ts";
import type { Principal } from "../../src/core/principal.ts";
import { assertCurrent, type CredentialForm } from "../../src/gateway/credentials.ts";
import { Keyring } from "../../src/gateway/keyring.ts";
import { callerMaker } from "../../src/ledger/keys/principal.ts";
import { assertForms, createAuthenticate } from "../../src/server/authenticate.ts";
import type { Places } from "../../src/server/presented.ts";
import { entryOf, keyringOf } from "../helpers/keys.ts";

const KEYS = keyringOf(entryOf("alice", "alice-key"), entryOf("bob", "bob-key"), entryOf("odd", "t.odd"));
const make = callerMaker("tokens");

/** A form of `t.NAME`, `t.NAME.VARIANT` and more; it refuses `t.bad`. */
function formOf(more: Partial<CredentialForm> = {}): CredentialForm {
  const callers = new Map<string, Principal>();
  return {
    name: "tokens",
    example: "t.example",
    claims: (text) => text.startsWith("t."),
    check(text) {
      const name = text.split(".")[1]!;
      if (name === "bad") throw new GatewayError("authentication", "The token is not valid.");
      if (name === "locked") throw new GatewayError("permission", "The person is suspended.");
      if (name === "down") throw new GatewayError("overloaded", "Nobody knows.");
      const until = name === "old" ? Date.now() - 1 : undefined;
      if (!callers.has(name)) callers.set(name, make({ id: name, name, path: "/people", until }));
      return callers.get(name)!;
    },
    ...more,
  };
}

const ALL: Places = {
  keyHeaders: ["authorization", "x-api-key", "api-key"],
  address: { keyParameter: "key" } as Places["address"],
};

/** Whom a request names, or the kind and code of the error. */
async function asked(
  headers: Record<string, string>,
  { forms = [formOf()], keyring = KEYS, query = "", places = ALL } = {},
): Promise<string> {
  const request = new Request(`http://weir/v1/x${query}`, { headers });
  try {
    const principal = await createAuthenticate(keyring, forms)(request, places);
    return principal ? principal.id : "open";
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    return `${thrown.status} ${thrown.code ?? thrown.message}`;
  }
}

const bearer = (text: string) => ({ authorization: `Bearer ${text}` });

test("keys alone: the first header with a credential decides, whatever the others hold", async () => {
  const keysOnly = { forms: [] };
  const both = { ...bearer("alice-key"), "x-api-key": "bob-key" };
  expect(await asked(both, keysOnly)).toBe("config:alice");
  expect(await asked({ ...both, authorization: "Digest x" }, keysOnly)).toBe("config:bob");
  expect(await asked({ ...both, authorization: "Bearer old" }, keysOnly)).toBe("401 invalid_api_key");
  expect(await asked({ "api-key": "alice-key" }, { ...keysOnly, query: "?key=bob-key" })).toBe(
    "config:alice",
  );
  expect(await asked({}, { ...keysOnly, query: "?key=bob-key" })).toBe("config:bob");
  expect(await asked({ authorization: "" }, { ...keysOnly, query: "?key=bob-key" })).toBe(
    "401 invalid_api_key",
  );
  expect(await asked({}, keysOnly)).toStartWith(
    "401 No API key was given; send it as `Authorization: Bearer KEY`",
  );
  expect(await asked({}, { ...keysOnly, keyring: new Keyring() })).toBe("open");
});

test("a text belongs to the form that claims it, and its answer is final", async () => {
  expect(await asked(bearer("t.anna"))).toBe("tokens/anna");
  expect(await asked(bearer("alice-key"))).toBe("config:alice");
  expect(await asked({ "api-key": "t.anna" })).toBe("tokens/anna");
  expect(await asked({}, { query: "?key=t.anna" })).toBe("tokens/anna");
  expect(await asked(bearer("t.bad"))).toBe("401 The token is not valid.");
  expect(await asked(bearer("weir_sk_typo"))).toBe("401 invalid_api_key");
  expect(await asked(bearer("nothing"))).toBe("401 invalid_api_key");
  expect(await asked({ authorization: "Digest x" })).toBe("401 invalid_api_key");
  expect(await asked({})).toStartWith("401 No API key was given");
});

test("a key with the shape of another form is refused, and so is what two forms claim", async () => {
  expect(await asked(bearer("t.odd"))).toBe("401 ambiguous_credential");
  const twin = formOf({ name: "twin", example: "t.twin" });
  expect(await asked(bearer("t.anna"), { forms: [formOf(), twin] })).toBe("401 ambiguous_credential");
});

test("calls need a credential as soon as there is a form, also where there are no keys", async () => {
  const keyring = new Keyring();
  expect(keyring.isOpen).toBe(true);
  expect(await asked({}, { keyring })).toStartWith("401 No API key was given");
  expect(await asked(bearer("anything"), { keyring })).toBe("401 invalid_api_key");
  expect(await asked(bearer("t.anna"), { keyring })).toBe("tokens/anna");
});

test("what the state of the keys is, only keys feel", async () => {
  const doubted = new Keyring();
  doubted.replace([], true, true);
  expect(await asked(bearer("t.anna"), { keyring: doubted })).toBe("tokens/anna");
  expect(await asked(bearer("some-key"), { keyring: doubted })).toBe("503 keys_unavailable");
  const expecting = new Keyring();
  expecting.expectStored();
  expect(await asked(bearer("t.anna"), { keyring: expecting })).toBe("tokens/anna");
  const waiting = asked(bearer("some-key"), { keyring: expecting });
  expecting.replace([], true);
  expect(await waiting).toBe("401 invalid_api_key");
  const opening = new Keyring();
  opening.expectStored();
  const guess = asked(bearer("some-key"), { keyring: opening });
  opening.replace([], false);
  expect([await guess, opening.isOpen]).toEqual(["401 invalid_api_key", true]);
});

test("two callers in one request are refused with the names of the places", async () => {
  const CASES: readonly [Record<string, string>, string][] = [
    [{ ...bearer("t.anna"), "x-api-key": "alice-key" }, "400 conflicting_credentials"],
    [{ ...bearer("alice-key"), "x-api-key": "t.anna" }, "400 conflicting_credentials"],
    [{ ...bearer("alice-key"), "x-api-key": "bob-key" }, "400 conflicting_credentials"],
    [{ ...bearer("t.anna"), "x-api-key": "t.bea" }, "400 conflicting_credentials"],
    [{ ...bearer("t.anna"), "x-api-key": "old", "api-key": "t.bea" }, "400 conflicting_credentials"],
    // One caller.
    [{ ...bearer("t.anna"), "x-api-key": "t.anna" }, "tokens/anna"],
    [{ ...bearer("t.anna"), "x-api-key": "t.anna.other" }, "tokens/anna"],
    [{ ...bearer("alice-key"), "api-key": "alice-key" }, "config:alice"],
    // An old credential identifies no caller.
    [{ ...bearer("t.anna"), "x-api-key": "sk-ant-old" }, "tokens/anna"],
    [{ ...bearer("alice-key"), "x-api-key": "t.bad" }, "config:alice"],
    [{ ...bearer("alice-key"), "x-api-key": "t.old" }, "config:alice"],
    [{ ...bearer("alice-key"), "x-api-key": "t.locked" }, "config:alice"],
    [{ ...bearer("t.anna"), "x-api-key": "t.odd" }, "tokens/anna"],
    // The first one decides, also by its refusal.
    [{ ...bearer("t.bad"), "x-api-key": "alice-key" }, "401 The token is not valid."],
    [{ ...bearer("t.old"), "x-api-key": "t.anna" }, "401 credential_expired"],
    // Whom it names is not known.
    [{ ...bearer("alice-key"), "x-api-key": "t.down" }, "503 Nobody knows."],
  ];
  for (const [headers, expected] of CASES)
    expect([headers, await asked(headers)]).toEqual([headers, expected]);
  const query = "?key=t.bea";
  expect(await asked(bearer("t.anna"), { query })).toBe("400 conflicting_credentials");

  const request = new Request(`http://weir/v1/x${query}`, { headers: bearer("t.anna") });
  const sentence = async () => createAuthenticate(KEYS, [formOf()])(request, ALL);
  await expect(sentence()).rejects.toThrow(
    "The credentials in the header authorization and in the parameter key belong to two different callers; send only the one that you mean.",
  );
});

test("a header that the route does not read carries no credential", async () => {
  const places = { keyHeaders: ["authorization"] };
  expect(await asked({ ...bearer("t.anna"), "x-api-key": "alice-key" }, { places })).toBe("tokens/anna");
});

test("a form may take its time, but not for ever; an unexpected exception of it admits no caller", async () => {
  const late = formOf({ check: async () => (await Bun.sleep(5), make({ id: "l", name: "l", path: "/" })) });
  expect(await asked(bearer("t.x"), { forms: [late] })).toBe("tokens/l");
  const never = formOf({ check: () => new Promise(() => {}) });
  expect(await asked(bearer("t.x"), { forms: [never] })).toBe("503 credential_unchecked");
  const broken = formOf({ check: () => Promise.reject(new Error("planted")) });
  await expect(asked(bearer("t.x"), { forms: [broken] })).rejects.toThrow("planted");
  const elapsed = make({ id: "e", name: "e", path: "/", until: Date.now() });
  const slow = formOf({ check: async () => elapsed });
  expect(await asked(bearer("t.x"), { forms: [slow] })).toBe("401 credential_expired");
}, 20_000);

test("forms that claim each other's texts are a fault of the config", () => {
  const faultOf = (...forms: CredentialForm[]) => {
    try {
      return assertForms(KEYS, forms);
    } catch (thrown) {
      return (thrown as Error).message;
    }
  };
  expect(faultOf()).toBeUndefined();
  expect(
    faultOf(formOf(), formOf({ name: "others", example: "u.x", claims: (text) => text[0] === "u" })),
  ).toBe(undefined);
  expect(faultOf(formOf(), formOf())).toBe("two forms of credentials have the name tokens");
  expect(faultOf(formOf(), formOf({ name: "twin", example: "t.twin" }))).toBe(
    'the forms of credentials tokens and twin both claim "t.example"',
  );
  expect(faultOf(formOf({ claims: () => true }))).toBe(
    'the forms of credentials keys of weir and tokens both claim "weir_sk_0000000000000000…"',
  );
  expect(faultOf(formOf({ example: "weir_x", claims: (text) => text === "weir_x" }))).toBe(
    'the forms of credentials tokens and keys of weir both claim "weir_x"',
  );
  expect(faultOf(formOf({ example: "u" }))).toBe(
    "the form of credentials tokens does not claim its own example",
  );
});

test("a caller has an id apart from keys, and a path and scopes that a key could have", () => {
  const scopes = { models: ["small"] };
  const [one, other] = ["a", "b"].map((id) => make({ id, name: id, path: "/people", scopes }));
  expect(one).toMatchObject({ id: "tokens/a", name: "a", path: "/people", tags: [] });
  expect([one!.key, one!.person, one!.until, one!.via]).toEqual([undefined, undefined, undefined, undefined]);
  expect(other!.options).toBe(one!.options);
  expect(one!.options.allowsModel(["large"])).toBe(false);
  expect(() => make({ id: "a", name: "a", path: "/../x" })).toThrow(
    'the path "/../x" of a caller must consist of',
  );
  expect(() => make({ id: "", name: "a", path: "/" })).toThrow("a caller has an empty id");
  expect(() => make({ id: "a", name: "a", path: "/", scopes: { models: [] } })).toThrow(
    "of the scopes of a caller models is empty",
  );
});

test("a caller is refused from the end of its time on", () => {
  const caller = make({ id: "a", name: "a", path: "/", until: Date.UTC(2026, 10, 30, 12) });
  expect(() => assertCurrent(caller, caller.until! - 1)).not.toThrow();
  expect(() => assertCurrent(caller, caller.until)).toThrow(
    "The credential expired on 2026-11-30 12:00 UTC; get a new one.",
  );
  expect(() => assertCurrent(undefined)).not.toThrow();
});
