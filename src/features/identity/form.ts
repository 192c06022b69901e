/** The form of credentials: tokens of the issuers in the config. */
import type { Principal } from "../../core/principal.ts";
import { GatewayError } from "../../core/error.ts";
import { parseJson, isObject } from "../../core/json.ts";
import type { CredentialForm, Issued, Resource } from "../../gateway/credentials.ts";
import type { WorkerHost } from "../../gateway/seams.ts";
import type { Scopes } from "../../ledger/policy.ts";
import {
  expectAdmitted,
  expectMember,
  type Identified,
  identify,
  type Rules,
  type Standing,
  standingOf,
} from "./callers.ts";
import { noteFacts } from "./columns.ts";
import { expectFor } from "./resource.ts";
import type { Entry } from "./entries.ts";
import type { Known } from "./known.ts";
import { type OwnTokens, restricted } from "./own/own-tokens.ts";
import { grantsIn, tokenId } from "./people.ts";
import { tokensChecked } from "./metrics.ts";
import { refusalOf } from "./refusals.ts";
import { joinedRow, waitingFor } from "./scim/waiting.ts";
import { shown, TokenFault } from "./tokens/fault.ts";
import { ANSWER_MS, type Introspection } from "./tokens/introspection.ts";
import type { KeySource } from "./tokens/key-source.ts";
import { put, TokenMemory, type Verified } from "./token-memory.ts";
import { isTokenShaped, readToken, type Token } from "./tokens/token.ts";

/** How long a verified token is not verified again, and a refused one is refused by memory. Milliseconds. */
const KEPT_MS = 300_000;
const REFUSED_MS = 5_000;
const MOST_REFUSED = 10_000;
const MOST_SCOPES = 1_000;

export interface FormOptions {
  /** By issuer. */
  readonly entries: ReadonlyMap<string, readonly Entry[]>;
  readonly sources: ReadonlyMap<string, KeySource>;
  readonly rules: Rules;
  readonly known: Known;
  readonly introspection: Introspection;
  /** Absent: weir makes no tokens. `entries`: by name, those for whose people and workloads it makes them. */
  readonly own?: { readonly tokens: OwnTokens; readonly entries: ReadonlyMap<string, Entry> };
  /** Address of weir, without a slash at the end. */
  readonly url?: string;
  /** Where programs get tokens. */
  readonly issued?: Issued;
  /** Issuer whose people may be users of SCIM that wait for a verified address; absent: none. */
  readonly linked?: string;
  /** A person was identified by a token. @param waits a user of SCIM waits for it */
  seen(entry: Entry, identified: Identified, waits: boolean): void;
  /** Logs why a token was refused. */
  refused(issuer: string, fault: TokenFault): void;
  now(): number;
}

type Own = NonNullable<FormOptions["own"]>;

export class TokenForm implements CredentialForm {
  readonly name = "tokens of issuers";
  readonly example = "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJ3ZWlyIn0.c2lnbmF0dXJl";
  readonly #host: Pick<WorkerHost, "principal" | "meter">;
  readonly #options: FormOptions;
  /** All entries; what is remembered of a token has the number of its own. */
  readonly #entries: readonly Entry[];
  readonly #memory = new TokenMemory((verified) => this.#principal(verified));
  readonly #refused = new Map<string, { readonly error: GatewayError; readonly until: number }>();
  readonly #pending = new Map<string, Promise<Principal>>();
  readonly #scopes = new Map<string, Scopes>();
  readonly #digest = Buffer.alloc(32);

  constructor(host: Pick<WorkerHost, "principal" | "meter">, options: FormOptions) {
    this.#host = host;
    this.#options = options;
    this.#entries = [...[...options.entries.values()].flat(), ...(options.own?.entries.values() ?? [])];
  }

  claims(text: string): boolean {
    return isTokenShaped(text);
  }

  get issued(): Issued | undefined {
    return this.#options.issued;
  }

  check(text: string, _request?: Request, resource?: Resource): Principal | Promise<Principal> {
    const { url } = this.#options;
    const found = this.#known(text);
    return found instanceof Promise
      ? found.then((principal) => expectFor(principal, url, resource))
      : expectFor(found, url, resource);
  }

  #known(text: string): Principal | Promise<Principal> {
    const { known, now } = this.#options;
    if (known.isTooOld()) throw refusalOf({ reason: "unavailable" });
    const at = now();
    const recent = this.#memory.ofText(text, at);
    if (recent) return recent;
    Bun.SHA256.hash(text, this.#digest);
    const digest = this.#digest.toString("latin1");
    const kept = this.#memory.of(digest, text, at);
    if (kept) return kept;
    const refused = this.#refused.get(digest);
    if (refused && at < refused.until) throw refused.error;
    const pending = this.#pending.get(digest);
    if (pending) return pending;
    const found = this.#find(text, digest).finally(() => this.#pending.delete(digest));
    this.#pending.set(digest, found);
    return found;
  }

  /**
   * Whom a token of an issuer admits, for one of weir's own in exchange.
   * @throws GatewayError as {@link check}
   */
  async exchange(text: string): Promise<Admitted> {
    const { entries, refused, known } = this.#options;
    let name = "unknown";
    try {
      if (known.isTooOld()) throw new TokenFault("unavailable", "the keeper is away");
      const issuer = issuerIn(text);
      const own = entries.get(issuer) ?? [];
      name = own[0]?.name ?? name;
      if (own.length === 0)
        throw new TokenFault("issuer", `its iss is ${shown(issuer)}, which no option names`);
      const admitted = await this.#identified(text, issuer, own);
      if (admitted.identified.audience !== undefined)
        throw new TokenFault("audience", `it is for ${shown(admitted.identified.audience)} alone`);
      return admitted;
    } catch (thrown) {
      if (!(thrown instanceof TokenFault)) throw thrown;
      this.#host.meter.add(tokensChecked, [name, thrown.reason]);
      refused(name, thrown);
      throw refusalOf(thrown);
    }
  }

  /** What the store knows of people or tokens has changed: they are looked at anew with their next call. */
  forget(ids: ReadonlySet<string>): void {
    this.#memory.forget(ids);
    this.#refused.clear();
  }

  /** Number of tokens in memory. */
  get size(): number {
    return this.#memory.size;
  }

  async #find(text: string, digest: string): Promise<Principal> {
    const { now, refused } = this.#options;
    let name = "unknown";
    try {
      const issuer = issuerIn(text);
      const { own } = this.#options;
      if (own && issuer === own.tokens.url) {
        name = "weir";
        return await this.#own(own, text, digest);
      }
      const entries = this.#options.entries.get(issuer) ?? [];
      name = entries[0]?.name ?? name;
      if (entries.length === 0)
        throw new TokenFault("issuer", `its iss is ${shown(issuer)}, which no option names`);
      const principal = await this.#verified(text, issuer, entries, digest);
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
    text: string,
    issuer: string,
    entries: readonly Entry[],
    digest: string,
  ): Promise<Principal> {
    const { entry, identified, standing, waiting } = await this.#identified(text, issuer, entries);
    const { person, token: id, until, name, client, audience } = identified;
    const ids = [id, waiting].filter((one) => one !== undefined);
    const caller = { person, name, path: standing.path, via: `jwt/${entry.name}`, ids, until };
    const ms = entry.introspect ? ANSWER_MS : KEPT_MS;
    const facts = { ...(client !== undefined && { client }), ...(audience !== undefined && { audience }) };
    return this.#keep(digest, entry, { ...caller, ...facts }, ms);
  }

  async #identified(text: string, issuer: string, entries: readonly Entry[]): Promise<Admitted> {
    const { sources, known, rules, now, seen, linked, introspection, url } = this.#options;
    const token = readToken(text);
    if (!entries.some(({ algorithms }) => algorithms.has(token.alg)))
      throw new TokenFault("algorithm", `its alg is ${token.alg}, which no entry of its issuer accepts`);
    await sources.get(issuer)!.verify(token);
    await known.ready();
    const { entry, identified } = identify(token, entries, now(), url);
    if (entry.introspect) await introspection.expectActive(entry.introspect, text);
    const { person, token: id } = identified;
    const revoked = id === undefined ? undefined : known.get(id);
    const waiting = issuer === linked ? waitingFor(issuer, identified) : undefined;
    const user = waiting === undefined ? undefined : known.get(waiting);
    const own = known.get(person);
    const row = user ? { id: person, ...joinedRow(own, user) } : own;
    const standing = standingOf(identified, entry, rules, row, revoked);
    seen(entry, identified, user !== undefined);
    return { entry, identified, standing, waiting };
  }

  /** One of weir's own tokens. */
  async #own({ tokens, entries }: Own, text: string, digest: string): Promise<Principal> {
    const { known, rules } = this.#options;
    const token = await tokens.read(readToken(text));
    const { person, name, path, models, client, jti, family, until, audience, scope } = token;
    await known.ready();
    const entry = entries.get(token.entry);
    if (!entry)
      throw new TokenFault(
        "condition",
        `it was made for a token of ${shown(token.entry)}, which no option names any more`,
      );
    const ids = [tokenId(tokens.url, jti), ...(family === undefined ? [] : [family])];
    const row = known.get(person);
    const revoked = ids.map((id) => known.get(id)).find((one) => one !== undefined);
    expectAdmitted({ subject: person, issuedAt: token.issuedAt }, row, revoked);
    const own = row?.path ?? path;
    // Who signed in has a role as long as a group or an operator gives one.
    if (family !== undefined) expectMember(person, row ? grantsIn(row) : [], own, rules);
    const caller = { person, name, path: own, via: `weir/${entry.name}`, ids, until };
    return this.#keep(digest, entry, {
      ...caller,
      ...(client !== undefined && { client }),
      ...(models && { models }),
      ...(audience !== undefined && { audience }),
      ...(scope !== undefined && { scope }),
    });
  }

  #keep(
    digest: string,
    entry: Entry,
    caller: Omit<Verified, "entry" | "keptUntil">,
    ms = KEPT_MS,
  ): Principal {
    const keptUntil = Math.min(this.#options.now() + ms, caller.until);
    return this.#memory.keep(digest, { ...caller, entry: this.#entries.indexOf(entry), keptUntil });
  }

  #principal({ person, name, path, via, until, entry, models, ...facts }: Verified): Principal {
    const scopes = this.#restricted(this.#entries[entry]!, models);
    const { client, audience, scope } = facts;
    const isNarrow = audience !== undefined || scope !== undefined;
    const principal = this.#host.principal({
      ...{ id: person, person, name, path, via, until, scopes },
      ...(isNarrow && {
        expect: (resource) => void expectFor(principal, this.#options.url, resource),
      }),
    });
    noteFacts(principal, {
      name,
      ...(client !== undefined && { client }),
      ...(audience !== undefined && { audience }),
      ...(scope !== undefined && { scope }),
    });
    return principal;
  }

  /** Callers that share their scopes share what is prepared from them. */
  #restricted({ name, scopes }: Entry, models: readonly string[] | undefined): Scopes {
    if (!models) return scopes;
    const key = JSON.stringify([name, models]);
    const found = this.#scopes.get(key) ?? restricted(scopes, models);
    put(this.#scopes, key, found, MOST_SCOPES);
    return found;
  }
}

/** A token that was verified, and whom it admits. */
export interface Admitted {
  readonly entry: Entry;
  readonly identified: Identified;
  readonly standing: Standing;
  /** Under which a user of SCIM may wait for the person. */
  readonly waiting: string | undefined;
}

/** The issuer that a token names, before anything of it is trusted. @throws TokenFault */
function issuerIn(text: string): string {
  const body = text.slice(text.indexOf(".") + 1, text.lastIndexOf("."));
  const claims = parseJson(Buffer.from(body, "base64url").toString("utf8"));
  const issuer = isObject(claims) ? claims["iss"] : undefined;
  if (typeof issuer !== "string") throw new TokenFault("malformed", "its payload names no issuer");
  return issuer;
}
