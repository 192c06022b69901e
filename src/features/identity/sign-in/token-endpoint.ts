/** The endpoints of a provider that weir asks by itself, and how weir says who it is there. */
import {
  assertionFor,
  basicAuthorization,
  type ClientKey,
  readClientKey,
} from "../../../auth/client-identification.ts";
import { isObject, type JsonObject, parseJson } from "../../../core/json.ts";
import { shown, TokenFault } from "../tokens/fault.ts";
import type { Metadata } from "./metadata.ts";
import type { SignInProvider } from "./settings.ts";

/** Errors that say that a person has to sign in again (RFC 6749 5.2, OpenID Connect Core 3.1.2.6). */
const REFUSING = new Set(["invalid_grant", "interaction_required", "login_required", "consent_required"]);

export interface ProviderTokens {
  readonly idToken?: string;
  readonly accessToken?: string;
  readonly refreshToken?: string;
}

/** The provider says that a code or a refresh token is not valid, or not any more. */
export class GrantRefused extends TokenFault {
  constructor(sentence: string) {
    super("revoked", sentence);
  }
}

export class TokenEndpoint {
  readonly #metadata: Metadata;
  readonly #provider: SignInProvider;
  readonly #now: () => number;
  readonly #key: ClientKey | undefined;

  constructor(metadata: Metadata, provider: SignInProvider, now: () => number) {
    this.#metadata = metadata;
    this.#provider = provider;
    this.#now = now;
    const isByKey = provider.options.method === "private_key_jwt";
    this.#key = isByKey ? readClientKey(provider.secret) : undefined;
  }

  /** @param signal default: some seconds @throws TokenFault, GrantRefused */
  async ask(grant: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<ProviderTokens> {
    const { status, body } = await this.#send("token_endpoint", grant, signal);
    if (status === 200 && body)
      return {
        ...(typeof body["id_token"] === "string" && { idToken: body["id_token"] }),
        ...(typeof body["access_token"] === "string" && { accessToken: body["access_token"] }),
        ...(typeof body["refresh_token"] === "string" && { refreshToken: body["refresh_token"] }),
      };
    const sentence = `the token endpoint answers ${status} ${shown(body?.["error"])}`;
    if (status >= 400 && status < 500 && REFUSING.has(String(body?.["error"])))
      throw new GrantRefused(sentence);
    throw new TokenFault("unavailable", sentence);
  }

  /**
   * Sends a request for a sign-in ahead of the browser (RFC 9126), if the config or the provider wants it.
   * @returns what the browser brings instead; the request itself, if nobody wants it @throws TokenFault
   */
  async push(request: Readonly<Record<string, string>>): Promise<Readonly<Record<string, string>>> {
    const { options, client } = this.#provider;
    const isDemanded = (await this.#metadata.read())["require_pushed_authorization_requests"] === true;
    if (!(options.par ?? isDemanded)) return request;
    const { status, body } = await this.#send("pushed_authorization_request_endpoint", request);
    const uri = body?.["request_uri"];
    if (typeof uri !== "string")
      throw new TokenFault(
        "unavailable",
        `the endpoint for pushed requests answers ${status} ${shown(body?.["error"])}`,
      );
    return { client_id: client, request_uri: uri };
  }

  /** @throws TokenFault of the reason `unavailable` */
  async #send(
    endpoint: string,
    parameters: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ): Promise<{ status: number; body: JsonObject | undefined }> {
    const address = await this.#metadata.endpoint(endpoint);
    const { headers, form } = await this.#identification(address);
    const answer = await this.#metadata.ask(address, {
      method: "POST",
      headers: {
        ...{ accept: "application/json", "content-type": "application/x-www-form-urlencoded" },
        ...headers,
      },
      body: new URLSearchParams({ ...parameters, ...form }).toString(),
      ...(signal && { signal }),
    });
    const body = parseJson(answer.text);
    return { status: answer.status, body: isObject(body) ? body : undefined };
  }

  async #identification(
    address: string,
  ): Promise<{ headers: Record<string, string>; form: Record<string, string> }> {
    const { client, secret, options } = this.#provider;
    if (this.#key) return { headers: {}, form: assertionFor(this.#key, client, address, this.#now()) };
    if ((options.method ?? (await this.#usualMethod())) === "post")
      return { headers: {}, form: { client_id: client, client_secret: secret } };
    return { headers: { authorization: basicAuthorization(client, secret) }, form: {} };
  }

  /** In a header, if the provider does not say that it wants another way. */
  async #usualMethod(): Promise<"basic" | "post"> {
    const methods = (await this.#metadata.read())["token_endpoint_auth_methods_supported"];
    if (!Array.isArray(methods) || methods.includes("client_secret_basic")) return "basic";
    return methods.includes("client_secret_post") ? "post" : "basic";
  }
}
