/** The keys of a person: made within what the config permits at its path, rotated and revoked by the person alone. */
import { budgetOfPath } from "../../../admin/key-budget.ts";
import type { AdminBooks } from "../../../admin/books.ts";
import { nameFault, normalName } from "../../../core/name.ts";
import type { Actor } from "../../../keeper/store/store.ts";
import { createKey, KeyError, type Maker, revokeKey, rotateKey } from "../../../ledger/keys/make.ts";
import { isWithin } from "../../../ledger/keys/path.ts";
import { excessOf } from "../../../ledger/keys/scopes.ts";
import type { KeyEntry, Scopes } from "../../../ledger/policy.ts";
import { AdminError, conflict, invalid, notFound } from "../../../operator/errors.ts";
import { type KeyPolicy, narrowed, policyAt } from "./section.ts";

/** Whose keys. */
export interface Owner {
  readonly person: string;
  readonly path: string;
  /** The person may use models. */
  readonly mayUseModels: boolean;
  /** What all callers of the issuer are restricted to. */
  readonly scopes: Scopes;
  readonly address: string;
}

/** How long the text before works, at most. Milliseconds. */
export const MOST_GRACE_MS = 7 * 86_400_000;
/** Characters of a name that tell keys of several people with one name apart. */
const SUFFIX = 6;
const LONGEST = 64 - SUFFIX - 1;

export interface Made {
  readonly key: KeyEntry;
  /** The key itself, which exists nowhere else. */
  readonly secret: string;
}

export class OwnKeys {
  readonly #policies: readonly KeyPolicy[];
  /** Changes one after another: each counts the keys that there are. */
  #line: Promise<unknown> = Promise.resolve();

  constructor(policies: readonly KeyPolicy[]) {
    this.#policies = policies;
  }

  /** @returns undefined: the person may make none */
  policyOf({ path, mayUseModels }: Owner): KeyPolicy | undefined {
    return mayUseModels ? policyAt(this.#policies, path) : undefined;
  }

  /** Those that were not revoked. */
  list(books: AdminBooks, { person }: Owner): KeyEntry[] {
    return books.policy().keys.filter((key) => key.person === person && key.revokedAt === undefined);
  }

  /** @throws AdminError 400, 403, 409 */
  create(books: AdminBooks, owner: Owner, label: string, now: number): Promise<Made> {
    return this.#inLine(async () => {
      const policy = this.#expectPolicy(books, owner);
      const valid = this.list(books, owner).filter(({ expiresAt = Infinity }) => expiresAt > now);
      if (valid.length >= policy.most)
        throw conflict(`You have ${valid.length} keys, which is the most; delete one first.`);
      const name = normalName(label.trim());
      const fault =
        nameFault(name) ?? (name.length > LONGEST ? `has more than ${LONGEST} characters` : undefined);
      if (fault !== undefined) throw invalid(`The name ${fault}.`, "/name");
      // The names of others are none of its business, so none is ever taken.
      const request = { name: `${name}-${suffix()}`, kind: "call" } as const;
      const { entry, text } = checked(() => createKey(request, makerOf(books, owner, policy, now), now));
      const key = { ...entry, person: owner.person };
      const budget = budgetOfPath(key, books.policy());
      // A key must never exist without its limits, so they come first.
      if (budget) await books.saveBudget(budget, actorOf(owner));
      await books.saveKey(key, actorOf(owner));
      return { key, secret: text };
    });
  }

  /** A new text, with the time, the restrictions and the path of today. @throws AdminError 403, 404, 409 */
  rotate(books: AdminBooks, owner: Owner, id: string, graceMs: number, now: number): Promise<Made> {
    return this.#inLine(async () => {
      const key = this.#find(books, owner, id);
      const policy = this.#expectPolicy(books, owner);
      // It does not count among the valid ones.
      if ((key.expiresAt ?? Infinity) <= now) throw conflict("The key has expired; make a new one.");
      const maker = makerOf(books, owner, policy, now);
      const { entry, text } = checked(() => rotateKey(key, graceMs, { ...maker, path: key.path }, now));
      const isBeyond = excessOf(entry.scopes, maker.scopes, maker) !== undefined;
      const { expiresAt: _, ...rest } = entry;
      const next: KeyEntry = {
        ...rest,
        // An operator may have moved the person.
        path: isWithin(key.path, owner.path) ? key.path : owner.path,
        // The policy may be narrower now.
        scopes: isBeyond ? maker.scopes : entry.scopes,
        ...(maker.expiresAt !== undefined && { expiresAt: maker.expiresAt }),
      };
      await books.saveKey(next, actorOf(owner));
      return { key: next, secret: text };
    });
  }

  /** @throws AdminError 404 */
  revoke(books: AdminBooks, owner: Owner, id: string, now: number): Promise<KeyEntry> {
    return this.#inLine(async () => {
      const key = this.#find(books, owner, id);
      const revoked = revokeKey(key, true, { path: key.path, scopes: {} }, now);
      await books.saveKey(revoked, actorOf(owner));
      return revoked;
    });
  }

  #find(books: AdminBooks, owner: Owner, id: string): KeyEntry {
    const found = this.list(books, owner).find((key) => key.id === id);
    if (!found) throw notFound("key", id);
    return found;
  }

  /** @throws AdminError 403, 409 */
  #expectPolicy({ storesCallKeys }: AdminBooks, owner: Owner): KeyPolicy {
    const policy = this.policyOf(owner);
    if (!policy)
      throw new AdminError(403, "not_permitted", "The operator has not let people at your path make keys.");
    if (!storesCallKeys)
      throw new AdminError(
        409,
        "keys_in_file",
        "Keys for calls stand in the configuration file (store.keys: file).",
      );
    return policy;
  }

  async #inLine<Value>(work: () => Promise<Value>): Promise<Value> {
    const earlier = this.#line;
    const done = Promise.withResolvers<void>();
    this.#line = done.promise;
    await earlier;
    try {
      return await work();
    } finally {
      done.resolve();
    }
  }
}

function makerOf(books: AdminBooks, { path, scopes }: Owner, policy: KeyPolicy, now: number): Maker {
  return {
    ...{ path, scopes: narrowed(scopes, policy.scopes), sets: books.policy().modelSets },
    ...(policy.maxAgeMs !== undefined && { expiresAt: now + policy.maxAgeMs }),
  };
}

const actorOf = ({ person, address }: Owner): Actor => ({ actor: person, address });

const suffix = () =>
  [...crypto.getRandomValues(new Uint8Array(SUFFIX))].map((byte) => (byte % 36).toString(36)).join("");

/** @throws AdminError 400 instead of a KeyError */
function checked<Value>(make: () => Value): Value {
  try {
    return make();
  } catch (cause) {
    if (!(cause instanceof KeyError)) throw cause;
    throw invalid(cause.message, `/${cause.member}`);
  }
}
