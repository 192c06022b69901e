/** Gateway keys for tests. */
import { Keyring } from "../../src/gateway/keyring.ts";
import { compileKey } from "../../src/ledger/keys/principal.ts";
import { digestOf, isMistyped } from "../../src/ledger/keys/form.ts";
import type { KeyEntry } from "../../src/ledger/policy.ts";

/** An entry for a key text. */
export function entryOf(name: string, text: string, members: Partial<KeyEntry> = {}): KeyEntry {
  return {
    ...{ id: `config:${name}`, name, kind: "call", path: "/", tags: [], scopes: {} },
    digests: [{ sha256: digestOf(text) }],
    ...members,
  };
}

/** A keyring with keys of the config. */
export function keyringOf(...entries: readonly KeyEntry[]): Keyring {
  const keyring = new Keyring(isMistyped);
  keyring.declare(entries.map((entry) => compileKey(entry)));
  return keyring;
}
