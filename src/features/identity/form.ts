/** The form of credentials: tokens of the issuers in the config. */
import type { Principal } from "../../core/principal.ts";
import { GatewayError } from "../../core/error.ts";
import { parseJson, isObject } from "../../core/json.ts";
import type { CredentialForm } from "../../gateway/credentials.ts";
import type { WorkerHost } from "../../gateway/seams.ts";
import { type Identified, identify, type Rules, standingOf } from "./callers.ts";
import { noteFacts } from "./columns.ts";
import type { Entry } from "./entries.ts";
import type { Known } from "./known.ts";
import { tokensChecked } from "./metrics.ts";
import { refusalOf } from "./refusals.ts";
import { shown, TokenFault } from "./tokens/fault.ts";
import type { KeySource } from "./tokens/key-source.ts";
import { isTokenShaped, readToken, type Token } from "./tokens/token.ts";

/** How long a verified token is not verified again, and a refused one is refused by memory. Milliseconds. */
const KEPT_MS = 300_000;
const REFUSED_MS = 5_000;
/** Most tokens in memory. */
const MOST_KEPT = 100_000;
const MOST_REFUSED = 10_000;

/** A token that was verified. */
interface Kept {
  readonly principal: Principal;
  readonly token: string | undefined;
  readonly until: number;
}

export interface FormOptions {
  /** By issuer. */
  readonly entries: ReadonlyMap<string, readonly Entry[]>;
  readonly sources: ReadonlyMap<string, KeySource>;
  readonly rules: Rules;
  readonly known: Known;
  /** A person was identified by a token, for the first time in a while. */
  seen(entry: Entry, identified: Identified): void;
  /** Logs why a token was refused. */
  refused(issuer: string, fault: TokenFault): void;
  now(): number;
}

export class TokenForm implements CredentialForm {
  readonly name = "tokens of issuers";
  readonly example = "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJ3ZWlyIn0.c2lnbmF0dXJl";
  readonly #host: Pick<WorkerHost, "principal" | "meter">;
  readonly #options: FormOptions;
  /** By the digest of the whole token: no two tokens share an entry. */
  readonly #kept = new Map<string, Kept>();
  readonly #refused = new Map<string, { readonly error: GatewayError; readonly until: number }>();
  readonly #pending = new Map<string, Promise<Principal>>();
  readonly #digest = Buffer.alloc(32);

  constructor(host: Pick<WorkerHost, "principal" | "meter">, options: FormOptions) {
    this.#host = host;
    this.#options = options;
  }

  claims(text: string): boolean {
    return isTokenShaped(text);
  }

  check(text: string): Principal | Promise<Principal> {
    const { known, now } = this.#options;
    if (known.isTooOld()) throw refusalOf({ reason: "unavailable" });
    Bun.SHA256.hash(text, this.#digest);
    const digest = this.#digest.toString("latin1");
    const kept = this.#kept.get(digest);
    const at = now();
    if (kept && at < kept.until) return kept.principal;
    const refused = this.#refused.get(digest);
    if (refused && at < refused.until) throw refused.error;
    const pending = this.#pending.get(digest);
    if (pending) return pending;
    const found = this.#find(text, digest).finally(() => this.#pending.delete(digest));
    this.#pending.set(digest, found);
    return found;
  }

  /** What the store knows of people or tokens has changed: they are looked at anew with their next call. */
  forget(ids: ReadonlySet<string>): void {
    for (const [digest, { principal, token }] of this.#kept)
      if (ids.has(principal.person!) || (token !== undefined && ids.has(token))) this.#kept.delete(digest);
    this.#refused.clear();
  }

  /** Number of tokens in memory. */
  get size(): number {
    return this.#kept.size;
  }

  async #find(text: string, digest: string): Promise<Principal> {
    const { now, refused } = this.#options;
    let name = "unknown";
    try {
      const issuer = issuerIn(text);
      const entries = this.#options.entries.get(issuer) ?? [];
      name = entries[0]?.name ?? name;
      if (entries.length === 0)
        throw new TokenFault("issuer", `its iss is ${shown(issuer)}, which no option names`);
      const principal = await this.#verified(readToken(text), issuer, entries, digest);
      this.#host.meter.add(tokensChecked, [name, "ok"]);
      return principal;
    } catch (thrown) {
      if (!(thrown instanceof TokenFault)) throw thrown;
      this.#host.meter.add(tokensChecked, [name, thrown.reason]);
      refused(name, thrown);
      const error = refusalOf(thrown);
      if (thrown.reason !== "unavailable")
        put(this.#refused, digest, { error, until: now() + REFUSED_MS }, MOST_REFUSED);
      throw error;
    }
  }

  async #verified(
    token: Token,
    issuer: string,
    entries: readonly Entry[],
    digest: string,
  ): Promise<Principal> {
    const { sources, known, rules, now, seen } = this.#options;
    if (!entries.some(({ algorithms }) => algorithms.has(token.alg)))
      throw new TokenFault("algorithm", `its alg is ${token.alg}, which no entry of its issuer accepts`);
    await sources.get(issuer)!.verify(token);
    await known.ready();
    const { entry, identified } = identify(token, entries, now());
    const { person, token: tokenId, until, name, client } = identified;
    const standing = standingOf(
      identified,
      entry,
      rules,
      known.get(person),
      tokenId === undefined ? undefined : known.get(tokenId),
    );
    const caller = { id: person, person, name, path: standing.path, until, scopes: entry.scopes };
    const earlier = this.#kept.get(digest)?.principal;
    // The ledger remembers for each object which budgets count it.
    const principal =
      earlier?.path === standing.path && earlier.until === until
        ? earlier
        : this.#host.principal({ ...caller, via: `jwt/${entry.name}` });
    noteFacts(principal, { name, ...(client !== undefined && { client }) });
    const keptUntil = Math.min(now() + KEPT_MS, until);
    put(this.#kept, digest, { principal, token: tokenId, until: keptUntil }, MOST_KEPT);
    seen(entry, identified);
    return principal;
  }
}

/** The issuer that a token names, before anything of it is trusted. @throws TokenFault */
function issuerIn(text: string): string {
  const body = text.slice(text.indexOf(".") + 1, text.lastIndexOf("."));
  const claims = parseJson(Buffer.from(body, "base64url").toString("utf8"));
  const issuer = isObject(claims) ? claims["iss"] : undefined;
  if (typeof issuer !== "string") throw new TokenFault("malformed", "its payload names no issuer");
  return issuer;
}

function put<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  // The newest are at the end.
  map.delete(key);
  map.set(key, value);
  if (map.size > most) map.delete(map.keys().next().value!);
}
