/** Finds who asks. The routes call it, so that it does not depend on a second parser of the path. */
import type { Principal } from "../core/principal.ts";
import { assertApart, type CredentialForm, type Resource } from "../gateway/credentials.ts";
import type { ActsFor } from "../gateway/seams.ts";
import type { Keyring } from "../gateway/keyring.ts";
import { Callers } from "./callers.ts";
import { type CheckOwner, KeyForm } from "./key-form.ts";
import { firstCredential, type Places } from "./presented.ts";

/**
 * @returns who asks, `undefined` while calls need no key; a promise while weir reads the keys of its store, or where a form of
 * credentials takes its time
 * @throws GatewayError `authentication`; `permission` for a key of the admin API; `invalid-request` for credentials of two
 * callers; `overloaded` if a credential cannot be checked
 */
export type Authenticate = (
  request: Request,
  places: Places,
  resource?: Resource,
) => Principal | undefined | Promise<Principal | undefined>;

/** What parts know of callers. */
export interface CallerChecks {
  /** Checks the persons of keys. */
  readonly owned?: CheckOwner;
  /** On whose behalf a caller asks; absent: on its own. */
  readonly actsFor?: ActsFor;
}

/** @param forms those of features; with one of them, each call needs a credential */
export function createAuthenticate(
  keyring: Keyring,
  forms: readonly CredentialForm[] = [],
  { owned, actsFor }: CallerChecks = {},
): Authenticate {
  const own = callersOf(new KeyForm(keyring, owned), keyring, forms);
  if (!actsFor) return own;
  const acting = (found: Principal | undefined, request: Request) => found && actsFor(found, request);
  return (request, places, resource) => {
    const found = own(request, places, resource);
    return found instanceof Promise ? found.then((one) => acting(one, request)) : acting(found, request);
  };
}

function callersOf(keys: KeyForm, keyring: Keyring, forms: readonly CredentialForm[]): Authenticate {
  if (forms.length > 0) {
    const callers = new Callers(keys, forms);
    return (request, places, resource) => callers.of(request, places, resource);
  }
  return (request, places) =>
    keyring.isOpen ? undefined : keys.admit(firstCredential(request, places), places.keyHeaders);
}

/** @param forms those of features @throws Error with a sentence if two forms, one of which may be that of keys, are not apart */
export function assertForms(keyring: Keyring, forms: readonly CredentialForm[]): void {
  if (forms.length > 0) assertApart([new KeyForm(keyring), ...forms]);
}
