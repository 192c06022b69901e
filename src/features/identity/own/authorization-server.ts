/** weir's authorization server: gives tokens to programs of people who have signed in. It runs in the keeper, beside the store. */
import type { KeeperHost } from "../../../keeper/seams.ts";
import { isWithin } from "../../../ledger/keys/path.ts";
import { printable } from "../../../core/printable.ts";
import { type Grant, mayUseModels } from "../groups.ts";
import type { OAuthAnswer, OAuthAsk } from "../messages.ts";
import type { PeopleBook } from "../people-book.ts";
import { findPerson, type PersonEntry } from "../people-reports.ts";
import { Codes } from "./codes.ts";
import { DEVICE_SECONDS, Devices, POLL_SECONDS, type Polled } from "./devices.ts";
import { Families, type Family } from "./families.ts";
import { Mac } from "./mac.ts";
import { answerOf, Form, OAuthError } from "./oauth.ts";
import { OwnTokens } from "./own-tokens.ts";
import { Programs } from "./programs.ts";
import type { Checked } from "../sign-in/recheck.ts";
import { Attempts } from "./attempts.ts";
import { grantedScope } from "./scope.ts";
import type { AuthorizationSettings } from "./settings.ts";

const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";

/** Most requests for a device code of one address in a minute: a company may have one. Tokens need no limit, 256 bits cannot be guessed. */
const MOST_DEVICES = 120;

/** Whether the provider still knows a person: asked when a program gets its next token. */
export type Recheck = (person: string, provider: string) => Promise<Checked>;

export interface AuthorizationOptions {
  readonly host: KeeperHost;
  readonly people: PeopleBook;
  readonly settings: AuthorizationSettings;
  /** People may use models whom no group lets, below this path; absent: they may not. */
  readonly createUnder?: string;
  readonly recheck: Recheck;
  now(): number;
}

export class AuthorizationServer {
  readonly devices: Devices;
  readonly codes: Codes;
  readonly programs: Programs;
  readonly mac: Mac;
  readonly url: string;
  readonly #options: AuthorizationOptions;
  readonly #families: Families;
  readonly #tokens: OwnTokens;
  readonly #asked: Attempts;

  constructor(options: AuthorizationOptions) {
    const { host, people, settings, now } = options;
    const { url, secret, accessMs, refreshMs } = settings;
    this.#options = options;
    this.url = url;
    this.mac = new Mac(secret);
    this.#families = new Families({ host, people, mac: this.mac, refreshMs, now });
    this.devices = new Devices({ host, families: this.#families, audience: url, now });
    this.codes = new Codes({ host, families: this.#families, now });
    this.programs = new Programs({ settings, mac: this.mac, now, info: host.report });
    this.#tokens = new OwnTokens(url, secret, now, accessMs);
    this.#asked = new Attempts(MOST_DEVICES, now);
  }

  /** Public keys of its tokens, as JWK Set. */
  published(): Promise<object> {
    return this.#tokens.keys.published();
  }

  async answer({ endpoint, form = [], text = "", address }: OAuthAsk): Promise<OAuthAnswer> {
    try {
      const given = new Form(new URLSearchParams(form.map(([name, value]) => [name, value])));
      if (endpoint === "device") return { status: 200, body: await this.#device(given, address) };
      if (endpoint === "register") return { status: 201, body: this.programs.register(text) };
      if (endpoint === "revoke") return await this.#revoke(given, address);
      return { status: 200, body: await this.#token(given, address) };
    } catch (thrown) {
      if (thrown instanceof OAuthError) return answerOf(thrown);
      throw thrown;
    }
  }

  /** Whether somebody with these grants at this path may use models. */
  mayUse({ grants, path }: { readonly grants: readonly Grant[]; readonly path: string }): boolean {
    const { createUnder } = this.#options;
    const isGuest = createUnder !== undefined && path !== createUnder && isWithin(path, createUnder);
    return mayUseModels(grants) || isGuest;
  }

  /** The audience of tokens for a resource of RFC 8707. @throws OAuthError for one that is not weir's */
  audienceOf(resources: readonly string[]): string {
    const [resource = this.url, second] = resources;
    const plain = resource.replace(/\/$/, "");
    const isOwn = plain === this.url || plain.startsWith(`${this.url}/`);
    if (second !== undefined || !isOwn || /[?#]/.test(plain))
      throw new OAuthError("invalid_target", `The resource must be ${this.url}, or one of its paths.`);
    const isForModels = plain === this.url || plain === `${this.url}/v1`;
    return isForModels ? this.url : plain;
  }

  async #device(form: Form, address: string): Promise<object> {
    if (!this.#asked.allows(address))
      throw new OAuthError("slow_down", "Too many devices of this address ask; retry in a minute.", 429);
    const named = form.text("client_id") ?? form.text("surface") ?? "unnamed program";
    const scope = grantedScope(form.text("scope"));
    const client = printable(named.slice(0, 80));
    const { deviceCode, userCode } = await this.devices.begin(client, scope, address);
    const page = `${this.url}/device`;
    return {
      ...{ device_code: deviceCode, user_code: userCode, verification_uri: page },
      verification_uri_complete: `${page}?user_code=${userCode}`,
      ...{ expires_in: DEVICE_SECONDS, interval: POLL_SECONDS },
    };
  }

  async #token(form: Form, address: string): Promise<object> {
    const grant = form.expect("grant_type");
    if (grant === DEVICE_GRANT)
      return this.#begun(await this.devices.poll(form.expect("device_code")), address);
    if (grant === "refresh_token") return this.#refresh(form, address);
    if (grant === "authorization_code") return this.#code(form, address);
    throw new OAuthError("unsupported_grant_type", "weir does not know the grant_type.");
  }

  async #code(form: Form, address: string): Promise<object> {
    const resources = form.all("resource");
    const polled = await this.codes.exchange(form.expect("code"), {
      ...{ client: form.expect("client_id"), redirect: form.expect("redirect_uri") },
      verifier: form.expect("code_verifier"),
      audience: resources.length === 0 ? undefined : this.audienceOf(resources),
    });
    return this.#begun(polled, address);
  }

  /** Tokens of an approval; a second use of one code ends what the first one got. @throws OAuthError */
  async #begun(polled: Polled, address: string): Promise<object> {
    if ("family" in polled) return this.#answer(polled.family, polled.refresh);
    const { spentOn } = polled;
    if (spentOn) await this.#families.revoke({ actor: "identity", address }, spentOn, "code used twice");
    throw new OAuthError("invalid_grant", "The code was used before.");
  }

  async #refresh(form: Form, address: string): Promise<object> {
    const token = form.expect("refresh_token");
    const found = await this.#families.find(token);
    // Claude Code asks its person to sign in again after a 401 with this code.
    const refused = (sentence: string) => new OAuthError("invalid_grant", sentence, 401);
    if (!found) throw refused("The refresh token is not valid; sign in again.");
    const { family, dead } = found;
    if (dead === "reused")
      await this.#families.revoke({ actor: family.person, address }, family.id, "refresh_reuse");
    if (dead) throw refused("The refresh token is not valid any more; sign in again.");
    const client = form.text("client_id");
    if (client !== undefined && client !== family.client)
      throw refused("The refresh token is one of another client.");
    const resources = form.all("resource");
    if (resources.length > 0 && this.audienceOf(resources) !== family.audience)
      throw new OAuthError("invalid_target", "The resource is not that for which the token was given.");
    const person = await this.#expectPerson(family);
    const state = await this.#options.recheck(family.person, family.provider);
    if (state === "refused") {
      await this.#families.revoke({ actor: "identity", address }, family.id, "refused by the provider");
      throw refused("The provider does not know the person any more; sign in again.");
    }
    if (state === "away")
      throw new OAuthError(
        "temporarily_unavailable",
        "The provider does not answer; retry in a minute.",
        503,
      );
    const next = await this.#families.rotate(token);
    if (next === undefined) throw refused("The refresh token is not valid any more; sign in again.");
    return this.#answer(family, next, person);
  }

  /** @throws OAuthError for somebody who may not use models any more */
  async #expectPerson({ person, created }: Family): Promise<PersonEntry> {
    const found = await this.#options.host.read((sql) => findPerson(sql, person));
    const refused = (sentence: string) => new OAuthError("invalid_grant", sentence, 401);
    if (!found || found.access.status !== "active") throw refused("The person may not use this gateway.");
    if (Math.floor(created / 1_000) < Number(found.access.not_before))
      throw refused("The tokens of the person were revoked; sign in again.");
    const { access, path } = found;
    if (!this.mayUse({ grants: access.grants, path: access.path ?? path }))
      throw refused("No group of the person may use models.");
    return found;
  }

  async #answer(family: Family, refresh: string, known?: PersonEntry): Promise<object> {
    const { name, path, access, email, isEmailVerified } = known ?? (await this.#expectPerson(family));
    const { id, person, provider, client, scope, audience } = family;
    const { accessMs, label } = this.#options.settings;
    const labels = label !== undefined && client === "claude_code" && { label };
    const facts = {
      ...labels,
      person,
      name,
      path: access.path ?? path,
      entry: provider,
      client,
      scope,
      audience,
    };
    return {
      access_token: await this.#tokens.make({ ...facts, family: id }, accessMs),
      ...{ token_type: "Bearer", expires_in: Math.floor(accessMs / 1_000), refresh_token: refresh, scope },
      ...(email !== undefined && isEmailVerified && { email }),
    };
  }

  /** RFC 7009: a token that weir does not know is no error. */
  async #revoke(form: Form, address: string): Promise<OAuthAnswer> {
    const token = form.expect("token");
    const family = (await this.#families.find(token))?.family.id ?? (await this.#tokens.familyOf(token));
    if (family !== undefined)
      await this.#families.revoke({ actor: "identity", address }, family, "signed out");
    if (family !== undefined) await this.#options.people.settled();
    return { status: 200 };
  }
}
