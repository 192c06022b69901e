/** The token endpoint of a provider: what weir asks it, and how weir says who it is there. */
import { isObject, parseJson } from "../../../core/json.ts";
import { shown, TokenFault } from "../tokens/fault.ts";
import type { Metadata } from "./metadata.ts";

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
  readonly #client: { readonly client: string; readonly secret: string };

  constructor(metadata: Metadata, client: { client: string; secret: string }) {
    this.#metadata = metadata;
    this.#client = client;
  }

  /** @param signal default: some seconds @throws TokenFault, GrantRefused */
  async ask(grant: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<ProviderTokens> {
    const address = await this.#metadata.endpoint("token_endpoint");
    const { headers, form } = await this.#identification();
    const answer = await this.#metadata.ask(address, {
      method: "POST",
      headers: {
        ...{ accept: "application/json", "content-type": "application/x-www-form-urlencoded" },
        ...headers,
      },
      body: new URLSearchParams({ ...grant, ...form }).toString(),
      ...(signal && { signal }),
    });
    const body = parseJson(answer.text);
    const { status } = answer;
    if (status === 200 && isObject(body))
      return {
        ...(typeof body["id_token"] === "string" && { idToken: body["id_token"] }),
        ...(typeof body["access_token"] === "string" && { accessToken: body["access_token"] }),
        ...(typeof body["refresh_token"] === "string" && { refreshToken: body["refresh_token"] }),
      };
    const error = isObject(body) ? body["error"] : undefined;
    const sentence = `the token endpoint answers ${status} ${shown(error)}`;
    if (status >= 400 && status < 500 && REFUSING.has(String(error))) throw new GrantRefused(sentence);
    throw new TokenFault("unavailable", sentence);
  }

  /** The secret is in a header, if the provider does not say that it wants another way. */
  async #identification(): Promise<{ headers: Record<string, string>; form: Record<string, string> }> {
    const { client, secret } = this.#client;
    const methods = (await this.#metadata.read())["token_endpoint_auth_methods_supported"];
    const isInBody =
      Array.isArray(methods) &&
      methods.includes("client_secret_post") &&
      !methods.includes("client_secret_basic");
    if (isInBody) return { headers: {}, form: { client_id: client, client_secret: secret } };
    // RFC 6749 2.3.1: both parts are form-encoded first.
    const pair = [client, secret]
      .map((text) => new URLSearchParams({ x: text }).toString().slice(2))
      .join(":");
    return { headers: { authorization: `Basic ${Buffer.from(pair).toString("base64")}` }, form: {} };
  }
}
