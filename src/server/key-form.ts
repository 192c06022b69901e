/** weir's own keys: the form of credentials that every weir has. That calls need no key, or that keys are not known yet, is a state of this form alone. */
import { GatewayError } from "../core/error.ts";
import type { Principal } from "../core/principal.ts";
import { CHALLENGE, type CredentialForm, writeTime } from "../gateway/credentials.ts";
import type { KeyFault, Keyring } from "../gateway/keyring.ts";
import { KEY_HEADERS } from "./presented.ts";

/** Whether the person of a key may call. @throws GatewayError if not */
export type CheckOwner = (principal: Principal) => void;

/** How long a call waits for the keys of the store at the start. Milliseconds. */
const WAIT_MS = 5_000;

/** The beginning of the keys that weir makes. Keys of the config may be any text. */
const PREFIX = "weir_";

export class KeyForm implements CredentialForm {
  readonly name = "keys of weir";
  readonly example = `${PREFIX}sk_0000000000000000000000000000000000000000000000000`;
  readonly #keyring: Keyring;
  readonly #owned: CheckOwner;

  /** @param owned by default no key of a person admits a call */
  constructor(keyring: Keyring, owned: CheckOwner = refuseOwned) {
    this.#keyring = keyring;
    this.#owned = owned;
  }

  /** A key of the config may look like anything, so weir has to look for it. */
  claims(text: string): boolean {
    return text.startsWith(PREFIX) || this.#keyring.knows(text);
  }

  /** @throws GatewayError as {@link admit} */
  check(text: string): Principal | Promise<Principal> {
    const refused = () => refusal(this.#keyring.faultOf(text));
    // Without keys no call needs one, but a text is no key all the same.
    return (
      this.#find(text) ?? this.#otherwise(text, refused).then((principal) => principal ?? throwing(refused()))
    );
  }

  /**
   * Admits a call, also without a key while calls need none.
   * @param text empty if it cannot be read, undefined if there is none @param keyHeaders where clients may send it
   * @throws GatewayError `authentication`; `permission` for a key of the admin API; `overloaded` if the store cannot be read
   */
  admit(
    text: string | undefined,
    keyHeaders?: readonly string[],
  ): Principal | undefined | Promise<Principal | undefined> {
    if (this.#keyring.isOpen) return undefined;
    const found = this.#find(text);
    if (found) return found;
    const refused = () =>
      text === undefined ? noCredential(keyHeaders) : refusal(this.#keyring.faultOf(text));
    return this.#otherwise(text, refused);
  }

  /** @throws GatewayError for the key of a person who may not call */
  #find(text: string | undefined): Principal | undefined {
    const found = text === undefined ? undefined : this.#keyring.check(text);
    if (found?.person !== undefined) this.#owned(found);
    return found;
  }

  #otherwise(text: string | undefined, refused: () => GatewayError): Promise<Principal | undefined> {
    const { pending, isDoubted } = this.#keyring;
    if (pending) return this.#findLater(text, refused);
    throw isDoubted ? unreleased() : refused();
  }

  async #findLater(text: string | undefined, refused: () => GatewayError): Promise<Principal | undefined> {
    const keyring = this.#keyring;
    await Promise.race([keyring.pending, Bun.sleep(WAIT_MS)]);
    if (keyring.isOpen) return undefined;
    const found = this.#find(text);
    if (found) return found;
    if (keyring.isDoubted) throw unreleased();
    if (!keyring.pending) throw refused();
    throw new GatewayError("overloaded", "The gateway cannot read its keys at the moment; retry in 1 s.", {
      code: "keys_unavailable",
      retryAfter: 1,
    });
  }
}

function refuseOwned(): never {
  throw new GatewayError(
    "permission",
    "This key belongs to a person, and this gateway knows no people; ask its operator for another key.",
    { code: "unknown_person" },
  );
}

function throwing(error: GatewayError): never {
  throw error;
}

/** Whether a key is valid is not known any more, so nothing is said about it. */
function unreleased(): GatewayError {
  return new GatewayError(
    "overloaded",
    "The gateway's store was damaged or is an older copy, so its keys may be missing or old. Its operator checks keys and budgets, and releases them with weir store release.",
    { code: "keys_unavailable", shouldRetry: false },
  );
}

/** The fault of a key that was sent. @param until the end of its validity */
const SENTENCES: Readonly<Record<Exclude<KeyFault, "admin" | "unenforced">, (until: string) => string>> = {
  unknown: () => "The API key is not valid for this gateway; ask its operator for a key.",
  mistyped: () => "The API key is mistyped: its checksum does not match. Copy the whole key again.",
  expired: (until) => `The API key expired on ${until}; ask the gateway's operator for a new one.`,
  revoked: () => "The API key was revoked; ask the gateway's operator for a new one.",
  replaced: (until) =>
    `The API key was replaced by a new one and is not valid since ${until}; use the new one.`,
};

function refusal({ fault, until, unenforced }: ReturnType<Keyring["faultOf"]>): GatewayError {
  if (fault === "admin")
    return new GatewayError("permission", "This key is for the admin API; calls need a call key.", {
      code: "admin_key",
    });
  if (fault === "unenforced")
    return new GatewayError(
      "permission",
      `This key has the restriction ${unenforced}, which this build of weir does not know, so it admits no calls; the operator starts a build with the feature that has it, or makes another key.`,
      { code: "unknown_restriction" },
    );
  const sentence = SENTENCES[fault](until === undefined ? "" : writeTime(until));
  return new GatewayError("authentication", sentence, { code: "invalid_api_key", ...CHALLENGE });
}

/** @param keyHeaders where clients may send a credential */
export function noCredential(keyHeaders = KEY_HEADERS): GatewayError {
  return new GatewayError(
    "authentication",
    `No API key was given; send it as ${waysToSend(keyHeaders)}.`,
    CHALLENGE,
  );
}

/** `Authorization` first, because every client can send it. */
function waysToSend(keyHeaders: readonly string[]): string {
  const others = keyHeaders.filter((name) => name !== "authorization").map((name) => `\`${name}: KEY\``);
  return ["`Authorization: Bearer KEY`", ...others].join(" or ");
}
