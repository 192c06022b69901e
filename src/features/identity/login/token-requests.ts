/** Requests to the authorization server of a gateway. */
import { isObject, type JsonObject, parseJson } from "../../../core/json.ts";
import { fetchDocument } from "../fetch-document.ts";
import type { Login } from "./logins.ts";

export interface Endpoints {
  readonly device: string;
  readonly token: string;
  readonly revoke: string;
}

const MEMBERS = {
  device: "device_authorization_endpoint",
  token: "token_endpoint",
  revoke: "revocation_endpoint",
} as const;

const USUAL = {
  device: "/oauth/device_authorization",
  token: "/oauth/token",
  revoke: "/oauth/revoke",
} as const;

/** The endpoints that a gateway names, if they are of its own origin; else the usual ones there. @param url without a slash at the end */
export async function endpointsOf(url: string): Promise<Endpoints> {
  const { status, text } = await fetchDocument(`${url}/.well-known/oauth-authorization-server`);
  const said = status === 200 ? parseJson(text) : undefined;
  const named = isObject(said) ? said : {};
  const { origin } = new URL(url);
  const one = (name: keyof Endpoints) => {
    const address = named[MEMBERS[name]];
    return typeof address === "string" && URL.parse(address)?.origin === origin ? address : url + USUAL[name];
  };
  return { device: one("device"), token: one("token"), revoke: one("revoke") };
}

export interface Answer {
  readonly status: number;
  readonly body: JsonObject;
}

export async function post(url: string, form: Readonly<Record<string, string>>): Promise<Answer> {
  const { status, text } = await fetchDocument(url, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
    body: new URLSearchParams(form).toString(),
  });
  const body = parseJson(text);
  return { status, body: isObject(body) ? body : {} };
}

/** Why a gateway refuses, as a clause. */
export function reasonOf({ status, body }: Answer): string {
  const { error_description: sentence } = body;
  return typeof sentence === "string" ? sentence.replace(/\.$/, "") : `it answers ${status}`;
}

/** @throws Error with one sentence for an answer without tokens */
export function loginOf(answer: Answer, url: string, now: number): Login {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds, scope } = answer.body;
  if (answer.status !== 200 || typeof accessToken !== "string" || typeof refreshToken !== "string")
    throw new Error(`${url} gives no token: ${reasonOf(answer)}`);
  const until = now + (typeof seconds === "number" ? seconds : 0) * 1_000;
  return { refreshToken, accessToken, until, ...(typeof scope === "string" && { scope }) };
}
