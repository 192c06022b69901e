/** Programs in which people sign in: those that a document at their address describes (CIMD), and those that registered themselves (RFC 7591). */
import { isLoopback } from "../../../core/host-names.ts";
import { isObject, type Json, parseJson } from "../../../core/json.ts";
import { printable } from "../../../core/printable.ts";
import type { Mac } from "./mac.ts";
import { OAuthError } from "./oauth.ts";
import { fetchPublic } from "./public-fetch.ts";
import type { AuthorizationSettings } from "./settings.ts";

/** How long a document is believed: at least, at most, and without a word of it. Seconds. */
const LEAST_SECONDS = 300;
const MOST_SECONDS = 86_400;
/** How long a document that could not be read is not asked for again. Milliseconds. */
const FAILED_MS = 30_000;
const MOST_KNOWN = 1_000;
const MOST_REDIRECTS = 20;
const REGISTERED = "dcr_";

/** A program as the person sees it. */
export interface Program {
  readonly id: string;
  readonly name: string;
  /** Host of its document; undefined: it registered itself. */
  readonly host?: string;
  readonly redirects: readonly string[];
}

export interface ProgramsOptions {
  readonly settings: Pick<AuthorizationSettings, "registers" | "readsDocuments" | "hosts">;
  readonly mac: Mac;
  now(): number;
  /** Logs why a document was not accepted. */
  info(sentence: string): void;
}

export class Programs {
  readonly #options: ProgramsOptions;
  readonly #known = new Map<string, { readonly program: Promise<Program>; until: number }>();

  constructor(options: ProgramsOptions) {
    this.#options = options;
  }

  /** @throws OAuthError `invalid_client` */
  async find(id: string): Promise<Program> {
    const { registers, readsDocuments } = this.#options.settings;
    if (id.startsWith(REGISTERED) && registers) return this.#registered(id);
    if (/^https?:\/\//i.test(id) && readsDocuments) return this.#documented(id);
    throw unknownClient("weir does not know the client.");
  }

  /**
   * Registers a program. Its id says what it is, sealed by the secret: there is nothing to store, and all nodes know it.
   * @param text body of the request @returns the answer of RFC 7591 3.2.1 @throws OAuthError
   */
  register(text: string): object {
    if (!this.#options.settings.registers)
      throw new OAuthError("access_denied", "Programs may not register themselves here.", 403);
    const body = parseJson(text);
    if (!isObject(body)) throw new OAuthError("invalid_client_metadata", "The body must be an object.");
    const method = body["token_endpoint_auth_method"] ?? "none";
    if (method !== "none")
      throw new OAuthError("invalid_client_metadata", "The token_endpoint_auth_method must be none.");
    const redirects = redirectsIn(body["redirect_uris"]);
    if (typeof redirects === "string") throw new OAuthError("invalid_redirect_uri", redirects);
    const name = nameIn(body["client_name"]) ?? "unnamed program";
    const said = Buffer.from(JSON.stringify({ name, redirects })).toString("base64url");
    return {
      client_id: `${REGISTERED}${said}.${this.#options.mac.of("registered client", said)}`,
      client_id_issued_at: Math.floor(this.#options.now() / 1_000),
      ...{ client_name: name, redirect_uris: redirects, token_endpoint_auth_method: "none" },
      ...{ grant_types: ["authorization_code", "refresh_token"], response_types: ["code"] },
    };
  }

  #registered(id: string): Program {
    const [said = "", code = ""] = id.slice(REGISTERED.length).split(".");
    const body = this.#options.mac.isOf("registered client", said, code)
      ? parseJson(Buffer.from(said, "base64url").toString("utf8"))
      : undefined;
    if (!isObject(body)) throw unknownClient("weir has not registered the client.");
    const { name, redirects } = body as { name: string; redirects: string[] };
    return { id, name, redirects };
  }

  #documented(id: string): Promise<Program> {
    const { now } = this.#options;
    const known = this.#known.get(id);
    if (known && now() < known.until) return known.program;
    const entry = { program: this.#fetch(id), until: now() + FAILED_MS };
    this.#known.delete(id);
    this.#known.set(id, entry);
    if (this.#known.size > MOST_KNOWN) this.#known.delete(this.#known.keys().next().value!);
    return entry.program;
  }

  /** @throws OAuthError */
  async #fetch(id: string): Promise<Program> {
    const { settings, now, info } = this.#options;
    try {
      const url = documentAddress(id);
      const { text, maxAge = LEAST_SECONDS } = await fetchPublic(url, settings.hosts);
      const program = programIn(text, id, url);
      const known = this.#known.get(id);
      if (known) known.until = now() + Math.min(MOST_SECONDS, Math.max(LEAST_SECONDS, maxAge)) * 1_000;
      return program;
    } catch (cause) {
      info(
        `identity: the document of the client ${printable(id.slice(0, 200))}: ${(cause as Error).message}`,
      );
      throw unknownClient("The document of the client cannot be used; the log of the gateway says why.");
    }
  }
}

function unknownClient(sentence: string): OAuthError {
  return new OAuthError("invalid_client", sentence, 401);
}

/** @throws Error with a clause */
function documentAddress(id: string): URL {
  const url = URL.parse(id);
  if (!url || url.href !== id || id.length > 500) throw new Error("it is no address in its plain form");
  if (url.username !== "" || url.password !== "" || url.hash !== "")
    throw new Error("the address must have neither user nor fragment");
  if (url.pathname === "/") throw new Error("the address needs a path");
  return url;
}

/** @throws Error with a clause */
function programIn(text: string, id: string, { host }: URL): Program {
  const body = parseJson(text);
  if (!isObject(body)) throw new Error("it is no object of JSON");
  if (body["client_id"] !== id) throw new Error("its client_id is not its address");
  const method = body["token_endpoint_auth_method"] ?? "none";
  if (method !== "none") throw new Error("its token_endpoint_auth_method is not none");
  const redirects = redirectsIn(body["redirect_uris"]);
  if (typeof redirects === "string") throw new Error(redirects);
  return { id, name: nameIn(body["client_name"]) ?? host, host, redirects };
}

function nameIn(value: Json | undefined): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? printable(value.trim().slice(0, 80)) : undefined;
}

/** @returns a sentence for what is no list of addresses */
function redirectsIn(value: Json | undefined): readonly string[] | string {
  if (!Array.isArray(value) || value.length === 0 || value.length > MOST_REDIRECTS)
    return `The redirect_uris must be a list of 1 to ${MOST_REDIRECTS} addresses.`;
  const wrong = value.find((one) => typeof one !== "string" || !isRedirect(one));
  return wrong === undefined
    ? (value as string[])
    : "A redirect_uri must be https://, http:// of this machine, or a scheme of a program.";
}

/** Schemes that browsers run, show or send by themselves. */
const NO_PROGRAM =
  /^(?:javascript|data|vbscript|file|blob|about|view-source|filesystem|wss?|ftp|mailto|tel):$/;

function isRedirect(text: string): boolean {
  const url = URL.parse(text);
  if (!url || text.length > 500 || url.hash !== "" || text.includes("#") || /[\s<>"'\\]/.test(text))
    return false;
  if (url.username !== "" || url.password !== "") return false;
  if (url.protocol === "https:") return true;
  if (url.protocol === "http:") return isLoopback(url.hostname);
  return !NO_PROGRAM.test(url.protocol);
}

/** Whether an address is one of a program's: to the letter, but for the port on this machine (RFC 8252 7.3). */
export function hasRedirect({ redirects }: Program, asked: string): boolean {
  if (redirects.includes(asked)) return true;
  if (!isRedirect(asked)) return false;
  const plain = withoutPort(asked);
  return plain !== undefined && redirects.some((one) => withoutPort(one) === plain);
}

function withoutPort(text: string): string | undefined {
  const found = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::\d{1,5})?(\/[^#]*)?$/.exec(text);
  return found ? `${found[1]}${found[2] ?? "/"}` : undefined;
}

/** Whether all that a program names is on the person's own machine: then any program there can use its name. */
export function isLocal({ redirects }: Program): boolean {
  return redirects.every((one) => withoutPort(one) !== undefined);
}
