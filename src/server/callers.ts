/** Who asks, where more than one form of credentials is on. */
import { GatewayError } from "../core/error.ts";
import type { Principal } from "../core/principal.ts";
import { within } from "../core/within.ts";
import { assertCurrent, CHALLENGE, type CredentialForm, type Resource } from "../gateway/credentials.ts";
import { noCredential, type KeyForm } from "./key-form.ts";
import { allCredentials, firstCredential, type Places, type Presented } from "./presented.ts";

/** How long a call waits for a form. Milliseconds. */
const WAIT_MS = 5_000;

export class Callers {
  readonly #keys: KeyForm;
  readonly #forms: readonly CredentialForm[];

  /** @param forms those beside keys */
  constructor(keys: KeyForm, forms: readonly CredentialForm[]) {
    this.#keys = keys;
    this.#forms = forms;
  }

  /**
   * The first credential counts, as where keys are the only form. The others of the request are checked all the same: weir does
   * not guess which of two callers is meant.
   * @throws GatewayError what the form of the first one throws; `invalid-request` if another one names another caller
   */
  of(request: Request, places: Places, resource?: Resource): Principal | Promise<Principal> {
    const [first, ...others] = allCredentials(request, places);
    if (!first) {
      const isUnreadable = firstCredential(request, places) !== undefined;
      if (isUnreadable) return this.#keys.check("");
      throw noCredential(places.keyHeaders);
    }
    const found = this.#check(first.text, request, resource);
    return others.length === 0 ? found : this.#agreed(found, [first, ...others], request, resource);
  }

  async #agreed(
    found: Principal | Promise<Principal>,
    [first, ...others]: readonly Presented[],
    request: Request,
    resource: Resource | undefined,
  ): Promise<Principal> {
    const principal = await found;
    for (const other of others) {
      const named = await this.#named(other.text, request, resource);
      if (named && named.id !== principal.id) throw conflict(first!.where, other.where);
    }
    return principal;
  }

  /** @returns undefined for a text that identifies no caller: clients leave old credentials in other headers */
  async #named(
    text: string,
    request: Request,
    resource: Resource | undefined,
  ): Promise<Principal | undefined> {
    try {
      return await this.#check(text, request, resource);
    } catch (thrown) {
      const isRefused =
        thrown instanceof GatewayError && (thrown.kind === "authentication" || thrown.kind === "permission");
      if (isRefused) return undefined;
      throw thrown;
    }
  }

  /** A text that no form claims is one for the key form, which says what is wrong with it. */
  #check(text: string, request: Request, resource: Resource | undefined): Principal | Promise<Principal> {
    const [form, second] = this.#forms.filter((one) => one.claims(text));
    if (!form) return this.#keys.check(text);
    if (second || this.#keys.claims(text)) throw claimedTwice(form, second ?? this.#keys);
    try {
      const found = form.check(text, request, resource);
      if (found instanceof Promise) {
        const late = () => unchecked(form);
        return within(found, WAIT_MS, late).then(current).catch(refuse);
      }
      return current(found);
    } catch (thrown) {
      return refuse(thrown);
    }
  }
}

/** A 401 needs a challenge (RFC 9110 11.6.1), also where a form gives none. */
function refuse(thrown: unknown): never {
  const lacksChallenge =
    thrown instanceof GatewayError &&
    thrown.kind === "authentication" &&
    !Object.hasOwn(thrown.headers ?? {}, "www-authenticate");
  throw lacksChallenge ? thrown.with({ headers: { ...thrown.headers, ...CHALLENGE.headers } }) : thrown;
}

function current(principal: Principal): Principal {
  assertCurrent(principal);
  return principal;
}

/** A form takes too long. */
function unchecked({ name }: CredentialForm): GatewayError {
  return new GatewayError("overloaded", `The gateway cannot check ${name} at the moment; retry in 1 s.`, {
    code: "credential_unchecked",
    retryAfter: 1,
  });
}

function conflict(one: string, other: string): GatewayError {
  return new GatewayError(
    "invalid-request",
    `The credentials in ${one} and in ${other} belong to two different callers; send only the one that you mean.`,
    { code: "conflicting_credentials" },
  );
}

/** The operator has to tell the forms apart: to ask both would be a fallback from one to the other. */
function claimedTwice(one: CredentialForm, other: CredentialForm): GatewayError {
  return new GatewayError(
    "authentication",
    `This credential could be one of two forms: ${one.name} or ${other.name}. Ask the gateway's operator for another one.`,
    { code: "ambiguous_credential", ...CHALLENGE },
  );
}
