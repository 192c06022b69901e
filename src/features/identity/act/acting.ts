/** Calls on behalf of people: a key with the right names one below its path, and the call is that person's, paid by both. */
import { GatewayError } from "../../../core/error.ts";
import { isObject } from "../../../core/json.ts";
import type { Principal } from "../../../core/principal.ts";
import type { ActsFor, Told } from "../../../gateway/seams.ts";
import { noteFacts } from "../columns.ts";
import { isWithin } from "../../../ledger/keys/path.ts";
import type { Known } from "../known.ts";
import type { NamedPerson, OAuthAnswer } from "../messages.ts";
import { refusalOf } from "../refusals.ts";
import { act } from "../key-options.ts";

const HEADER = "x-weir-person";
/** How records say how the caller proved who it is. */
const VIA = "act";
const MAX_LENGTH = 254;
/** How long a worker remembers what the keeper said of a name. Milliseconds. */
const KEPT_MS = 60_000;
const UNKNOWN_MS = 5_000;
const MOST_KEPT = 10_000;

interface Kept {
  /** Undefined: there is nobody of that name. */
  readonly principal: Principal | undefined;
  readonly until: number;
}

export interface ActingOptions {
  readonly known: Pick<Known, "get" | "ready">;
  /** Asks the keeper who is meant. @throws GatewayError while it is away */
  find(named: NamedPerson): Promise<OAuthAnswer>;
  now(): number;
}

export class Acting {
  readonly #options: ActingOptions;
  /** By the caller, whose object is another one after each change of its key. */
  readonly #kept = new WeakMap<Principal, Map<string, Kept>>();

  constructor(options: ActingOptions) {
    this.#options = options;
  }

  /** @throws GatewayError for somebody who is not below the key's path, or is suspended */
  readonly of: ActsFor = (principal, request) => {
    const named = request.headers.get(HEADER);
    if (named === null || !mayAct(principal)) return principal;
    const name = named.trim().toLowerCase();
    const kept = this.#kept.get(principal)?.get(name);
    if (kept && this.#isCurrent(kept)) return this.#admitted(kept.principal);
    return this.#find(principal, name);
  };

  /** An operator may have moved the person since. */
  #isCurrent({ principal, until }: Kept): boolean {
    if (this.#options.now() >= until) return false;
    const path = principal && this.#options.known.get(principal.person!)?.path;
    return path === undefined || path === null || path === principal!.path;
  }

  async #find(principal: Principal, name: string): Promise<Principal> {
    const { find, known, now } = this.#options;
    if (!isName(name)) throw nobody(principal);
    await known.ready();
    const { body } = await find({ name, within: principal.path });
    const person = isObject(body) ? body : {};
    const { id, path, name: shown } = person;
    const isFound = typeof id === "string" && typeof path === "string" && isWithin(path, principal.path);
    const earlier = this.#kept.get(principal) ?? new Map<string, Kept>();
    const found = isFound ? derived(principal, id, path, String(shown ?? ""), earlier.get(name)) : undefined;
    if (earlier.size >= MOST_KEPT) earlier.clear();
    earlier.set(name, { principal: found, until: now() + (found ? KEPT_MS : UNKNOWN_MS) });
    this.#kept.set(principal, earlier);
    return found ? this.#admitted(found) : Promise.reject(nobody(principal));
  }

  #admitted(principal: Principal | undefined): Principal {
    if (!principal) throw nobody(principal);
    const row = this.#options.known.get(principal.person!);
    if (row && row.status !== "active") throw refusalOf({ reason: "suspended" });
    return principal;
  }
}

/** The answer says for whom the call was. A client that names somebody without the right learns that it was not heard. */
export const toldOfPerson: Told = {
  error: (_, error) => error,
  headers({ principal, headers: asked }, headers) {
    if (asked.get(HEADER) === null) return headers;
    const isHeard = principal?.via === VIA;
    return { ...headers, [HEADER]: isHeard ? principal.person! : "ignored" };
  },
};

/** The ledger remembers for each object which budgets count it, so it stays the same while nothing has changed. */
function derived(
  principal: Principal,
  person: string,
  path: string,
  name: string,
  earlier: Kept | undefined,
): Principal {
  const former = earlier?.principal;
  if (former?.person === person && former.path === path) return former;
  const made: Principal = { ...principal, id: person, person, path, via: VIA };
  noteFacts(made, { name });
  return made;
}

/** The key of a person is for that person alone. */
function mayAct(principal: Principal): boolean {
  return principal.key !== undefined && principal.person === undefined && act.of(principal) === true;
}

function isName(name: string): boolean {
  return /^per_[0-9a-f]{32}$/.test(name) || (name.length <= MAX_LENGTH && /^[^@\s]+@[^@\s]+$/.test(name));
}

/** The same for somebody who is elsewhere: names of other places are not told. */
function nobody(principal: Principal | undefined): GatewayError {
  const where = principal ? ` at ${principal.path} and below` : " there";
  return new GatewayError(
    "permission",
    `The person of the header ${HEADER} is not known${where}; send an id or a verified address.`,
    { code: "person_unknown", shouldRetry: false },
  );
}
