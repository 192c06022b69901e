/** HashiCorp Vault and OpenBao: documents of KV 1 and 2, and of engines with leases. */
import { readFileSync } from "node:fs";
import { isObject, type JsonObject } from "../../../../core/json.ts";
import type { TlsSettings } from "../../../../core/provider.ts";
import { ask, expectObject, Refused } from "../../ask.ts";
import type { AwsOptions, Environment, Fetched, Lease, Plain, Store, VaultOptions } from "../../store.ts";
import { loginOf } from "./login.ts";

/** What Vault says of a token. */
interface Token {
  readonly token: string;
  /** Whether weir has got it by signing in: then it can do so again. */
  readonly isOwn: boolean;
  /** When it is to be renewed. Monotonic milliseconds; Infinity for one that lasts. */
  readonly renewAt: number;
  readonly endsAt: number;
  readonly isRenewable: boolean;
}

/** A token or a lease is made longer when this part of it is over. */
const RENEW_AFTER = 2 / 3;

export class VaultStore implements Store {
  readonly #options: Plain<VaultOptions>;
  readonly #aws: AwsOptions;
  readonly #env: Environment;
  #token: Promise<Token> | undefined;

  constructor(options: Plain<VaultOptions>, aws: AwsOptions, env: Environment) {
    this.#options = options;
    this.#aws = aws;
    this.#env = env;
  }

  async read(document: string, stop: AbortSignal): Promise<Fetched> {
    const answer = await this.#asked("GET", document.replace(/^\/+/, ""), undefined, stop);
    const { data, lease_id: id, lease_duration: seconds } = answer;
    if (!isObject(data)) throw new Error("has no secret there");
    const metadata = data["metadata"];
    if (isObject(metadata) && "data" in data) {
      if (!isObject(data["data"])) throw new Error("has no secret there: its last version was deleted");
      return { content: data["data"], version: String(metadata["version"] ?? "") };
    }
    if (typeof id !== "string" || id === "") return { content: data };
    const lease = { id, ms: Number(seconds) * 1_000, isRenewable: answer["renewable"] === true };
    return { content: data, version: id.split("/").at(-1)!, lease: this.#lease(lease) };
  }

  #lease({ id, ms, isRenewable }: { id: string; ms: number; isRenewable: boolean }): Lease {
    if (!isRenewable) return { ms };
    const extend = async (stop: AbortSignal) => {
      const asked = { lease_id: id, increment: Math.ceil(ms / 1_000) };
      const { lease_duration: seconds } = await this.#asked("PUT", "sys/leases/renew", asked, stop);
      return Number(seconds) * 1_000;
    };
    return { ms, extend };
  }

  /** A token that Vault does not take any more is replaced, once. */
  async #asked(method: "GET" | "PUT", path: string, body: JsonObject | undefined, stop: AbortSignal) {
    const token = await this.#valid(stop);
    try {
      return await this.#send(method, path, body, token.token, stop);
    } catch (cause) {
      const isRefused = cause instanceof Refused && (cause.status === 403 || cause.status === 401);
      if (!isRefused || !token.isOwn) throw cause;
      this.#token = undefined;
      return this.#send(method, path, body, (await this.#valid(stop)).token, stop);
    }
  }

  async #send(
    method: "GET" | "POST" | "PUT",
    path: string,
    body: JsonObject | undefined,
    token: string | undefined,
    stop: AbortSignal,
  ): Promise<JsonObject> {
    const address = this.#options.address ?? this.#env["VAULT_ADDR"];
    if (!address) throw new Error("needs secrets.vault.address or VAULT_ADDR");
    const namespace = this.#options.namespace ?? this.#env["VAULT_NAMESPACE"];
    const tls = this.#tls();
    const headers = {
      "x-vault-request": "true",
      ...(token !== undefined && { "x-vault-token": token }),
      ...(namespace && { "x-vault-namespace": namespace }),
      ...(body && { "content-type": "application/json" }),
    };
    const url = `${address.replace(/\/+$/, "")}/v1/${path}`;
    const text = body && JSON.stringify(body);
    const answer = await ask({
      url,
      method,
      headers,
      stop,
      ...(text && { body: text }),
      ...(tls && { tls }),
    });
    if (answer.status === 404) throw new Error("has no secret there");
    return expectObject(answer);
  }

  #tls(): TlsSettings | undefined {
    const file = this.#options.ca ?? this.#env["VAULT_CACERT"];
    return file ? { ca: readFileSync(file, "utf8") } : undefined;
  }

  /** The token to use now. Requests that need one at the same time share one login. */
  async #valid(stop: AbortSignal): Promise<Token> {
    const known = await (this.#token ??= this.#login(stop));
    const now = performance.now();
    if (now < known.renewAt) return known;
    const isExtendable = known.isRenewable && now < known.endsAt;
    const next = isExtendable ? this.#extend(known, stop).catch(() => this.#login(stop)) : this.#login(stop);
    next.catch(() => (this.#token = undefined));
    return (this.#token = next);
  }

  async #login(stop: AbortSignal): Promise<Token> {
    const login = await loginOf(this.#options.auth ?? {}, this.#aws, this.#env);
    if ("token" in login) {
      const lasting = { token: login.token, isOwn: false, isRenewable: false };
      return { ...lasting, renewAt: Infinity, endsAt: Infinity };
    }
    const asked = this.#send("POST", login.path, login.body, undefined, stop);
    const answer = await asked.catch((cause: Error) => {
      this.#token = undefined;
      throw new Error(`does not let weir sign in: ${cause.message}`);
    });
    return tokenOf(answer);
  }

  async #extend({ token }: Token, stop: AbortSignal): Promise<Token> {
    return tokenOf(await this.#send("POST", "auth/token/renew-self", {}, token, stop));
  }
}

function tokenOf({ auth }: JsonObject): Token {
  const { client_token: token, lease_duration: seconds, renewable } = isObject(auth) ? auth : {};
  if (typeof token !== "string") throw new Error("gave no token");
  const ms = Number(seconds) > 0 ? Number(seconds) * 1_000 : Infinity;
  const now = performance.now();
  const times = { renewAt: now + ms * RENEW_AFTER, endsAt: now + ms };
  return { token, isOwn: true, isRenewable: renewable === true, ...times };
}
