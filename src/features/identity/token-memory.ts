/**
 * What a process remembers of the tokens that it has verified. Those in use are objects that calls share; the others are packed into
 * texts, a fifth of the size, of which an object is made when they are used again.
 */
import type { Principal } from "../../core/principal.ts";

const MOST_HOT = 5_000;
const MOST_PACKED = 100_000;
const MOST_RECENT = 1_000;
const RECENT_LENGTH = 4_096;
/** To look for more ids in all packed tokens takes longer than to verify them again. */
const MOST_SOUGHT = 100;

/** A token that was verified, and whom it admits. Plain JSON. */
export interface Verified {
  readonly person: string;
  readonly name: string;
  readonly path: string;
  readonly via: string;
  /** Program that got the token. */
  readonly client?: string;
  /** Number of the entry that admits it, and the models to which it is restricted besides. */
  readonly entry: number;
  readonly models?: readonly string[];
  /** What the token is for: a resource, and a scope. */
  readonly audience?: string;
  readonly scope?: string;
  /** Ids of what may be revoked: the token, and the family of tokens to which it belongs; and under which a user of SCIM may wait. */
  readonly ids: readonly string[];
  /** End of the token, and of what is remembered of it. Milliseconds since 1970. */
  readonly until: number;
  readonly keptUntil: number;
}

interface Hot {
  readonly principal: Principal;
  readonly verified: Verified;
}

export class TokenMemory {
  readonly #make: (verified: Verified) => Principal;
  /** By the digest of the whole token: no two tokens share an entry. */
  readonly #hot = new Map<string, Hot>();
  readonly #packed = new Map<string, string>();
  /** Those that were used last, by their whole text: a hash costs more than the comparison. */
  readonly #recent = new Map<string, Hot>();

  constructor(make: (verified: Verified) => Principal) {
    this.#make = make;
  }

  /** Number of tokens. */
  get size(): number {
    return this.#hot.size + this.#packed.size;
  }

  ofText(text: string, now: number): Principal | undefined {
    const recent = this.#recent.get(text);
    return recent && now < recent.verified.keptUntil ? recent.principal : undefined;
  }

  /** @param text the token with this digest */
  of(digest: string, text: string, now: number): Principal | undefined {
    const found = this.#hot.get(digest) ?? this.#unpack(digest);
    if (!found || now >= found.verified.keptUntil) return undefined;
    if (text.length <= RECENT_LENGTH) put(this.#recent, text, found, MOST_RECENT);
    return found.principal;
  }

  /** Remembers a token, again or for the first time. */
  keep(digest: string, verified: Verified): Principal {
    const earlier = this.#hot.get(digest)?.principal;
    // The ledger remembers for each object which budgets count it.
    const isSame = earlier?.path === verified.path && earlier.until === verified.until;
    const principal = isSame ? earlier! : this.#make(verified);
    this.#packed.delete(digest);
    this.#add(digest, { principal, verified });
    return principal;
  }

  /** @param ids of people, tokens and families */
  forget(ids: ReadonlySet<string>): void {
    this.#recent.clear();
    for (const [digest, { verified }] of this.#hot)
      if (ids.has(verified.person) || verified.ids.some((id) => ids.has(id))) this.#hot.delete(digest);
    if (ids.size > MOST_SOUGHT) return this.#packed.clear();
    const sought = [...ids].map((id) => JSON.stringify(id));
    for (const [digest, text] of this.#packed)
      if (sought.some((id) => text.includes(id))) this.#packed.delete(digest);
  }

  #add(digest: string, hot: Hot): void {
    this.#hot.delete(digest);
    this.#hot.set(digest, hot);
    if (this.#hot.size <= MOST_HOT) return;
    const [oldest, { verified }] = this.#hot.entries().next().value!;
    this.#hot.delete(oldest);
    put(this.#packed, oldest, pack(verified), MOST_PACKED);
  }

  #unpack(digest: string): Hot | undefined {
    const text = this.#packed.get(digest);
    if (text === undefined) return undefined;
    const verified = unpack(text);
    const hot = { principal: this.#make(verified), verified };
    this.#packed.delete(digest);
    this.#add(digest, hot);
    return hot;
  }
}

/** Without the names of the members, which are half of the text. */
function pack({
  person,
  name,
  path,
  via,
  client,
  entry,
  models,
  audience,
  scope,
  ...rest
}: Verified): string {
  const { ids, until, keptUntil } = rest;
  const optional = [client ?? 0, models ?? 0, audience ?? 0, scope ?? 0];
  return JSON.stringify([person, name, path, via, entry, ids, until, keptUntil, ...optional]);
}

function unpack(text: string): Verified {
  const [person, name, path, via, entry, ids, until, keptUntil, ...optional] = JSON.parse(text);
  const [client, models, audience, scope] = optional;
  return {
    ...{ person, name, path, via, entry, ids, until, keptUntil },
    ...(client !== 0 && { client }),
    ...(models !== 0 && { models }),
    ...(audience !== 0 && { audience }),
    ...(scope !== 0 && { scope }),
  };
}

/** Adds an entry behind the others; beyond the most, the first one goes. */
export function put<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > most) map.delete(map.keys().next().value!);
}
