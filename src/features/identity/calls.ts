/** The part in each process that serves calls, once a config names issuers: who asks with a token. */
import type { Channel } from "../../core/channel.ts";
import type { Replica } from "../../core/replica.ts";
import type { Issued } from "../../gateway/credentials.ts";
import type { BrowserUser, FindBrowser, Seams, Told, WorkerHost } from "../../gateway/seams.ts";
import type { Identified } from "./callers.ts";
import type { Asks } from "./asks.ts";
import { DeclaredPeople, NOBODY_DECLARED, peopleIn } from "./declared/people.ts";
import { entriesOf, type Entry, ownEntriesOf } from "./entries.ts";
import { fetchDocument } from "./fetch-document.ts";
import { TokenForm } from "./form.ts";
import { Known } from "./known.ts";
import { checkOwners } from "./me/owners.ts";
import { Acting, toldOfPerson } from "./act/acting.ts";
import { claudeCodeSeams } from "./claude-code/seams.ts";
import type { IdentityDown, IdentityUp, SeenPerson } from "./messages.ts";
import { OwnTokens } from "./own/own-tokens.ts";
import { oauthRoutes } from "./own/routes.ts";
import type { AuthorizationSettings } from "./own/settings.ts";
import type { AccessRow } from "./people.ts";
import { scimProvider } from "./scim/section.ts";
import { admitsTokens, durationMs } from "./section.ts";
import { refusalOf } from "./refusals.ts";
import type { IdentityConfig } from "./declarations.ts";
import type { TokenFault } from "./tokens/fault.ts";
import { signInSettings } from "./sign-in/settings.ts";
import { Introspection } from "./tokens/introspection.ts";
import { KeySource } from "./tokens/key-source.ts";

/** Of refusals for one reason, one in this time is logged. Milliseconds. */
const LOG_MS = 10_000;
/** How often a worker tells the keeper of the same person. Milliseconds. */
const TELL_MS = 86_400_000;
const MOST_TOLD = 20_000;

export class TokenCalls {
  readonly #host: WorkerHost;
  /** Keys of issuers survive a reload. By issuer and address. */
  #sources = new Map<string, KeySource>();
  #rows: Replica<AccessRow> | undefined;
  #form: TokenForm | undefined;
  #own: { readonly name: string; readonly tokens: OwnTokens } | undefined;
  readonly #logged = new Map<string, { at: number; more: number }>();
  readonly #told = new Map<string, number>();
  #declared = NOBODY_DECLARED;
  readonly #keeper: Channel<IdentityUp, IdentityDown>;
  readonly #asks: Asks;
  readonly #introspection = new Introspection(fetchDocument, Date.now);

  constructor(host: WorkerHost, keeper: Channel<IdentityUp, IdentityDown>, asks: Asks) {
    this.#host = host;
    this.#keeper = keeper;
    this.#asks = asks;
  }

  seams(section: IdentityConfig): Seams {
    this.#rows ??= this.#listen();
    const now = Date.now;
    const entries = entriesOf(section);
    const byIssuer = Map.groupBy(entries, ({ issuer }) => issuer);
    const own = this.#ownTokens(section);
    const signIn = signInSettings(section);
    const signsIn = own && signIn?.tokens;
    const url = section.url?.replace(/\/$/, "");
    this.#declared = new DeclaredPeople(peopleIn(section));
    // Their paths may be others now.
    this.#told.clear();
    const known = new Known(this.#rows, section.strict, now);
    const rules = {
      ...(section.unknown === "create" && { createUnder: section.create.under }),
      ...(this.#declared.list.length > 0 && { declared: this.#declared }),
    };
    const owned = checkOwners({ known, rules, refused: (fault) => this.#log("a key of a person", fault) });
    const browsers = signIn && { browsers: askBrowser(this.#asks) };
    if (!admitsTokens(section)) {
      this.stop();
      return { owned, ...browsers };
    }
    const form = new TokenForm(this.#host, {
      ...(url !== undefined && { url, ...issuedAt(url, section, signsIn) }),
      ...(own && { own: { tokens: own, entries: ownEntriesOf(section) } }),
      entries: byIssuer,
      sources: this.#sourcesOf(byIssuer),
      ...{ known, rules, introspection: this.#introspection },
      ...(section.link === "email" && linkedIssuer(section)),
      seen: (entry, identified, waits) => this.#tell(entry, identified, waits),
      refused: (issuer, fault) => this.#log(`a token of ${issuer}`, fault),
      now,
    });
    this.#form = form;
    const acting = new Acting({ known, find: (person) => this.#asks.ask({ person }), now });
    const common = { credentials: [form], owned, actsFor: acting.of, ...browsers };
    if (!own) return { ...common, told: toldOfPerson };
    const { told, ...claudeCode } = claudeCodeSeams(section, form, this.#host);
    const routes = [...oauthRoutes({ own, form, signsIn, asks: this.#asks }), ...claudeCode.routes];
    return { ...claudeCode, ...common, routes, told: told ? both(told, toldOfPerson) : toldOfPerson };
  }

  /** Its keys are derived once for each address and secret. */
  #ownTokens({ url, tokens }: IdentityConfig): OwnTokens | undefined {
    const secret = tokens.secret?.reveal();
    if (url === undefined || secret === undefined) return undefined;
    const issuer = url.replace(/\/$/, "");
    const name = `${issuer} ${secret} ${tokens.access}`;
    if (this.#own?.name !== name)
      this.#own = { name, tokens: new OwnTokens(issuer, secret, Date.now, durationMs(tokens.access)) };
    return this.#own.tokens;
  }

  /** No config names an issuer any more, or the gateway stops. */
  stop(): void {
    this.#form = undefined;
    for (const source of this.#sources.values()) source.stop();
    this.#sources = new Map();
  }

  /** @returns by issuer */
  #sourcesOf(byIssuer: ReadonlyMap<string, readonly Entry[]>): ReadonlyMap<string, KeySource> {
    const earlier = this.#sources;
    this.#sources = new Map();
    const sources = new Map<string, KeySource>();
    for (const [issuer, [entry]] of byIssuer) {
      const { jwks } = entry!;
      const name = `${issuer} ${jwks ?? ""}`;
      const source = earlier.get(name) ?? this.#sourceOf(issuer, jwks);
      earlier.delete(name);
      this.#sources.set(name, source);
      sources.set(issuer, source);
      source.start();
    }
    for (const unused of earlier.values()) unused.stop();
    return sources;
  }

  #sourceOf(issuer: string, jwks: string | undefined): KeySource {
    const { isFirst, fault } = this.#host;
    return new KeySource({
      ...{ issuer, fetchDocument, now: Date.now },
      ...(jwks !== undefined && { jwks }),
      // Each process asks for itself; one says what all find.
      fault: (sentence) => isFirst && fault(sentence),
    });
  }

  #listen(): Replica<AccessRow> {
    const rows = this.#host.replica<AccessRow>("identity_access");
    this.#host.gone.add((id) => rows.get(id.replace(/^identity\//, ""))?.status === "deleted");
    rows.listen((ids) => {
      this.#form?.forget(new Set(ids));
      for (const id of ids) {
        this.#told.delete(id);
        this.#end(id, rows.get(id));
      }
    });
    return rows;
  }

  /** Ends the running calls of a person who was suspended with `cut`. */
  #end(id: string, row: AccessRow | undefined): void {
    if (!row || row.status === "active" || Number(row.cut) !== 1) return;
    const reason = refusalOf({ reason: row.status === "revoked" ? "revoked" : "suspended" });
    this.#host.clock.end(reason, ({ principal }) => principal?.person === id);
  }

  /** Tells the keeper of a person, which keeps names for the operator. */
  #tell(entry: Entry, identified: Identified, waits: boolean): void {
    const { person, subject, name, email, isEmailVerified, path } = identified;
    const at = Date.now();
    if (!waits && at - (this.#told.get(person) ?? -Infinity) < TELL_MS) return;
    if (this.#told.size >= MOST_TOLD) this.#told.clear();
    this.#told.set(person, at);
    const { issuer } = entry;
    const known = { issuer, subject, isEmailVerified, ...(email !== undefined && { email }) };
    const { grants: _, ...declared } = this.#declared.of(known);
    const seen: SeenPerson = { id: person, name, path, at, ...known, ...declared };
    this.#keeper.send({ seen: { ...seen, ...(waits && { waits }) } });
  }

  #log(what: string, { reason, message }: TokenFault): void {
    const name = `${what} ${reason}`;
    const at = Date.now();
    const last = this.#logged.get(name);
    if (last && at - last.at < LOG_MS) {
      last.more++;
      return;
    }
    this.#logged.set(name, { at, more: 0 });
    const more = last && last.more > 0 ? ` (${last.more} more since the last line)` : "";
    this.#host.info(`identity: ${what} was refused: ${message}${more}`);
  }
}

function both(one: Told, other: Told): Told {
  return {
    error: (call, error) => other.error(call, one.error(call, error)),
    headers: (call, headers) => other.headers(call, one.headers(call, headers)),
  };
}

/** Sessions are in the store, beside which the keeper runs. */
function askBrowser(asks: Asks): FindBrowser {
  return async ({ headers }, to) => {
    const { body } = await asks.ask({ browser: { cookie: headers.get("cookie") ?? "", to } });
    return body as BrowserUser;
  };
}

/** Where programs get tokens: at weir, if people sign in to them there, else at the providers whose tokens calls may send. */
function issuedAt(
  url: string,
  { providers }: IdentityConfig,
  signsIn: AuthorizationSettings | undefined,
): { issued?: Issued } {
  const isOwn = signsIn && (signsIn.registers || signsIn.readsDocuments);
  const others = Object.values(providers).flatMap(({ issuer, audience }) =>
    audience === undefined ? [] : [issuer],
  );
  const by = isOwn ? [url] : [...new Set(others)];
  return by.length === 0 ? {} : { issued: { url, by } };
}

/** The issuer of the people whom SCIM manages. */
function linkedIssuer({ scim, providers }: IdentityConfig): { linked?: string } {
  const name = scimProvider(scim.provider, providers);
  return name === undefined ? {} : { linked: providers[name]!.issuer };
}
