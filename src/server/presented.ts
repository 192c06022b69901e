/** The credentials of a request: the headers and the parameter in which clients send them. */
import type { ClientRoutes } from "../core/format.ts";

/** Lower-case names of the headers that may hold a credential, in order of precedence. */
export const KEY_HEADERS: readonly string[] = ["authorization", "x-api-key"];

/** Where the clients of a route may send a credential. Default of `keyHeaders`: {@link KEY_HEADERS}. */
export type Places = Pick<ClientRoutes, "address" | "keyHeaders">;

/** A credential and where it was. */
export interface Presented {
  readonly text: string;
  /** `the header x-api-key` */
  readonly where: string;
}

/**
 * The credential that counts: the one in the first header that has one, else that of the parameter if there is none of the headers.
 * @returns empty if what was sent cannot be read; undefined if nothing was sent
 */
export function firstCredential(request: Request, places: Places): string | undefined {
  const { headers } = request;
  let isSent = false;
  for (const name of places.keyHeaders ?? KEY_HEADERS) {
    const value = headers.get(name);
    if (value === null) continue;
    const text = textOf(name, value);
    if (text !== undefined) return text;
    isSent = true;
  }
  return isSent ? "" : parameterOf(request, places);
}

/** All credentials of a request, in order of precedence; equal ones once. */
export function allCredentials(request: Request, places: Places): Presented[] {
  const found: Presented[] = [];
  const add = (text: string | undefined, where: string) => {
    if (text && !found.some((one) => one.text === text)) found.push({ text, where });
  };
  for (const name of places.keyHeaders ?? KEY_HEADERS) {
    const value = request.headers.get(name);
    if (value !== null) add(textOf(name, value), `the header ${name}`);
  }
  add(parameterOf(request, places), `the parameter ${places.address?.keyParameter}`);
  return found;
}

/** Clients of some formats may send the credential in the query. */
function parameterOf({ url }: Request, { address }: Places): string | undefined {
  if (!address || !url.includes("?")) return undefined;
  const value = new URL(url).searchParams.get(address.keyParameter);
  return value === null || value === "" ? undefined : value.trim();
}

/** The token of `authorization: Bearer …` (the password of `Basic …`), or the value of another header. */
function textOf(name: string, value: string): string | undefined {
  return name === "authorization" ? tokenOf(value) : value.trim() || undefined;
}

/**
 * The token of `Bearer …`, or the password of `Basic …`: programs that know only an address send it from
 * `http://user:KEY@host`. Schemes are case-insensitive (RFC 9110 11.1). Other schemes carry no credential for weir.
 */
function tokenOf(authorization: string): string | undefined {
  const [, scheme, token] = /^(bearer|basic)[ \t]+(.*)$/i.exec(authorization) ?? [];
  if (scheme === undefined || scheme.length === "bearer".length) return token?.trim() || undefined;
  const pair = Buffer.from(token!.trim(), "base64").toString("utf8");
  const colon = pair.indexOf(":");
  return colon < 0 ? undefined : pair.slice(colon + 1) || undefined;
}
