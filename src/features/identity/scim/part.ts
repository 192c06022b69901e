/** SCIM in the keeper, by what the workers said last. Its code is loaded when a config has the option. */
import type { AskedPage } from "../../../admin/own-pages.ts";
import type { KeeperHost } from "../../../keeper/seams.ts";
import type { SeenPerson } from "../messages.ts";
import type { Scim } from "./scim.ts";
import type { ScimSettings } from "./settings.ts";

/** When options are applied again that could not be, and how often that is not told: the store may not be open yet. */
const AGAIN_MS = 1_000;
const TRIES_UNTOLD = 5;

/** Without the option its grants are removed. */
const NOTHING: ScimSettings = {
  ...{ digest: "", issuer: "", path: "/", subject: "sub", rules: [], linksEmail: false },
};

export class ScimPart {
  readonly #host: KeeperHost;
  #settings: ScimSettings | undefined;
  /** Undefined: no worker has said anything, or the keeper ends. */
  #written: string | undefined;
  #loaded: Promise<Scim> | undefined;

  constructor(host: KeeperHost) {
    this.#host = host;
  }

  configure(settings: ScimSettings | undefined): void {
    const written = JSON.stringify(settings ?? null);
    if (written === this.#written) return;
    this.#written = written;
    this.#settings = settings;
    this.#loaded = settings && this.#load(settings);
    void this.#renew(this.#loaded, written);
  }

  stop(): void {
    this.#written = undefined;
  }

  /** Applies options to the people in the store, as soon as it is open. */
  async #renew(loaded: Promise<Scim> | undefined, written: string): Promise<void> {
    for (let tries = 0; this.#written === written; tries++)
      try {
        const scim = await (loaded ?? this.#former());
        return await scim?.users.renew(loaded === undefined);
      } catch (cause) {
        if (tries === TRIES_UNTOLD)
          this.#host.report(`identity: the options of SCIM are not applied: ${(cause as Error).message}`);
        await Bun.sleep(AGAIN_MS);
      }
  }

  /** For what is left of an option that is gone; undefined: nothing is. */
  async #former(): Promise<Scim | undefined> {
    const users = await this.#host.read((sql) => sql.all("SELECT id FROM identity_scim_users LIMIT 1"));
    return users.length === 0 ? undefined : this.#load(NOTHING);
  }

  async answer(request: Request, asked: AskedPage): Promise<Response> {
    // 404 would tell the provider that a person is gone, which it would create again.
    return (await this.#loaded)?.answer(request, asked) ?? notYet();
  }

  /** A person was seen, who may be a user that waits. */
  async join(people: readonly SeenPerson[]): Promise<void> {
    if (!this.#settings?.linksEmail) return;
    const scim = await this.#loaded;
    for (const person of people) await scim?.users.join(person);
  }

  async #load(settings: ScimSettings): Promise<Scim> {
    const [{ Scim }, { Changes }] = await Promise.all([import("./scim.ts"), import("./changes.ts")]);
    const host = this.#host;
    return new Scim({ changes: new Changes(host, settings), now: Date.now, report: host.report });
  }
}

function notYet(): Response {
  const body = {
    schemas: ["urn:ietf:params:scim:api:messages:2.0:Error"],
    ...{ status: "503", detail: "The option identity.scim is not set, or the gateway has just started." },
  };
  const headers = {
    "content-type": "application/scim+json",
    "cache-control": "no-store",
    "retry-after": "5",
  };
  return new Response(JSON.stringify(body), { status: 503, headers });
}
