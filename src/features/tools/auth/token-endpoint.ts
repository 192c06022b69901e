/** Asks a token endpoint (RFC 6749), and says who weir is there. */
import { assertionFor, basicAuthorization, readClientKey } from "../../../auth/client-identification.ts";
import { type AskAuthority, shown } from "./asking.ts";
import { AuthFault, GrantRefused } from "./credential.ts";

/** weir at an authorization server. */
export interface Client {
  readonly id: string;
  readonly secret?: string;
  /** Private key, PEM or JWK. */
  readonly key?: string;
  readonly method?: "basic" | "post" | "none";
}

export interface Tokens {
  readonly access: string;
  readonly refresh?: string;
  /** When it was given, and when it ends, as far as is known. Milliseconds since 1970. */
  readonly at: number;
  readonly until?: number;
  readonly scope?: string;
}

export interface TokenEndpoint {
  readonly url: string;
  /** What a signed text of weir is for; absent: the endpoint. */
  readonly issuer?: string;
  readonly methods: readonly string[];
}

/** The client is not one, or not any more. */
export class ClientRefused extends AuthFault {}

/** @throws AuthFault; GrantRefused and ClientRefused for these reasons */
export async function askToken(
  ask: AskAuthority,
  endpoint: TokenEndpoint,
  client: Client,
  grant: Readonly<Record<string, string>>,
): Promise<Tokens> {
  const at = Date.now();
  const { headers, form } = identify(endpoint, client, at);
  const { status, body } = await ask(endpoint.url, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    body: new URLSearchParams({ ...grant, ...form }).toString(),
  });
  if (status === 200 && body && typeof body["access_token"] === "string") return tokensIn(body, at);
  const error = body?.["error"];
  const sentence = `the token endpoint answers ${status}${error === undefined ? "" : ` ${shown(error)}`}`;
  if (error === "invalid_grant") throw new GrantRefused(sentence);
  if (error === "invalid_client" || error === "unauthorized_client") throw new ClientRefused(sentence);
  throw new AuthFault(sentence);
}

/** @throws AuthFault for a token of a kind that weir cannot send */
function tokensIn(body: Record<string, unknown>, at: number): Tokens {
  const { access_token: access, token_type: type, refresh_token: refresh, expires_in: seconds, scope } = body;
  if (type !== undefined && String(type).toLowerCase() !== "bearer")
    throw new AuthFault(`the token endpoint gives a token of the type ${shown(type)}`);
  if (!/^[\x21-\x7e]+$/.test(String(access)))
    throw new AuthFault("the token endpoint gives no token for a header");
  const life = Number(seconds);
  return {
    ...{ access: String(access), at },
    ...(typeof refresh === "string" && refresh !== "" && { refresh }),
    ...(seconds !== undefined && life >= 0 && { until: at + life * 1_000 }),
    ...(typeof scope === "string" && { scope }),
  };
}

function identify(
  { url, issuer, methods }: TokenEndpoint,
  client: Client,
  now: number,
): { headers: Record<string, string>; form: Record<string, string> } {
  const { id, secret, key, method } = client;
  if (key !== undefined)
    return { headers: {}, form: assertionFor(readClientKey(key), id, issuer ?? url, now) };
  if (secret === undefined || method === "none") return { headers: {}, form: { client_id: id } };
  const isBasic = method === undefined ? methods.includes("client_secret_basic") : method === "basic";
  if (isBasic || !(method === "post" || methods.includes("client_secret_post")))
    return { headers: { authorization: basicAuthorization(id, secret) }, form: {} };
  return { headers: {}, form: { client_id: id, client_secret: secret } };
}

/** The part of its life after which a token is replaced. */
const USED = 0.8;

/** Whether a token is to be replaced by the next one. @param usual its life if nothing is known of it, in milliseconds */
export function isStale({ at, until }: Tokens, now: number, usual = Infinity): boolean {
  return now >= at + USED * ((until ?? at + usual) - at);
}
