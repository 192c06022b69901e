/** Finds the authorization server of a server of tools (RFC 9728), and what it can do (RFC 8414). */
import type { JsonObject } from "../../../core/json.ts";
import { type AskAuthority, shown } from "./asking.ts";
import { AuthFault } from "./credential.ts";

/** What a server says about who may use it. */
export interface ProtectedServer {
  /** Identifier for which tokens are asked (RFC 8707). */
  readonly resource: string;
  readonly issuer: string;
  /** Scopes that it names, with spaces between them. */
  readonly scope?: string;
}

export interface Authority {
  readonly issuer: string;
  readonly tokenEndpoint: string;
  readonly authorizationEndpoint?: string;
  readonly registrationEndpoint?: string;
  /** Whether it takes a code with PKCE, S256. */
  readonly takesChallenges: boolean;
  /** Ways in which clients say who they are. */
  readonly methods: readonly string[];
  /** Whether it reads documents of clients (CIMD). */
  readonly readsDocuments: boolean;
  /** Whether it says in its answers who it is (RFC 9207). */
  readonly namesItself: boolean;
  readonly scopes: readonly string[];
}

const PROTECTED = "/.well-known/oauth-protected-resource";
const METADATA = "/.well-known/oauth-authorization-server";
const OPENID = "/.well-known/openid-configuration";

/**
 * @param url of the server @param hint address of its document, as a challenge had it
 * @throws AuthFault if it says nothing, or something about another server
 */
export async function protectedServer(
  ask: AskAuthority,
  url: string,
  hint: string | undefined,
): Promise<ProtectedServer> {
  const { origin, pathname, search } = new URL(url);
  const own = pathname === "/" ? [] : [`${origin}${PROTECTED}${pathname.replace(/\/$/, "")}${search}`];
  for (const address of hint === undefined ? [...own, origin + PROTECTED] : [hint]) {
    const { status, body } = await ask(address);
    if (status === 200 && body) return protectedIn(body, url);
    if (hint !== undefined) throw new AuthFault(`${shown(hint)} answers ${status}`);
  }
  // Before 2025-06-18 the server was its own authorization server.
  return { resource: origin + pathname, issuer: origin };
}

/** @throws AuthFault */
function protectedIn(body: JsonObject, url: string): ProtectedServer {
  const { resource, authorization_servers: issuers, scopes_supported: scopes } = body;
  if (typeof resource !== "string" || !covers(resource, url))
    throw new AuthFault(`its metadata is that of ${shown(resource)}, not of ${shown(url)}`);
  const [issuer] = textsIn(issuers);
  if (issuer === undefined) throw new AuthFault("its metadata names no authorization server");
  const scope = textsIn(scopes).join(" ");
  return { resource, issuer, ...(scope !== "" && { scope }) };
}

/** Whether a resource is that of a URL, or one above it. */
function covers(resource: string, url: string): boolean {
  const [one, other] = [URL.parse(resource), new URL(url)];
  if (!one || one.origin !== other.origin || one.hash !== "") return false;
  const path = one.pathname.replace(/\/$/, "");
  return other.pathname === path || other.pathname.startsWith(`${path}/`);
}

/** @throws AuthFault for metadata that is missing or not that of the issuer */
export async function authorityOf(ask: AskAuthority, issuer: string): Promise<Authority> {
  const url = URL.parse(issuer);
  if (!url || url.search !== "" || url.hash !== "" || !/^[\x21-\x7e]+$/.test(issuer))
    throw new AuthFault(`${shown(issuer)} is no issuer`);
  const path = url.pathname.replace(/\/$/, "");
  const places = [`${METADATA}${path}`, `${OPENID}${path}`, ...(path === "" ? [] : [`${path}${OPENID}`])];
  for (const place of places) {
    const { status, body } = await ask(url.origin + place);
    if (status === 200 && body) return authorityIn(body, issuer);
  }
  throw new AuthFault(`the authorization server ${shown(issuer)} has no metadata`);
}

/** @throws AuthFault */
function authorityIn(body: JsonObject, issuer: string): Authority {
  if (body["issuer"] !== issuer)
    throw new AuthFault(`the metadata of ${shown(issuer)} has another issuer: ${shown(body["issuer"])}`);
  const tokenEndpoint = addressIn(body, "token_endpoint");
  if (tokenEndpoint === undefined)
    throw new AuthFault(`the metadata of ${shown(issuer)} has no token_endpoint`);
  const authorizationEndpoint = addressIn(body, "authorization_endpoint");
  const registrationEndpoint = addressIn(body, "registration_endpoint");
  const methods = textsIn(body["token_endpoint_auth_methods_supported"]);
  return {
    ...{ issuer, tokenEndpoint },
    ...(authorizationEndpoint !== undefined && { authorizationEndpoint }),
    ...(registrationEndpoint !== undefined && { registrationEndpoint }),
    takesChallenges: textsIn(body["code_challenge_methods_supported"]).includes("S256"),
    // The default of RFC 8414.
    methods: methods.length > 0 ? methods : ["client_secret_basic"],
    readsDocuments: body["client_id_metadata_document_supported"] === true,
    namesItself: body["authorization_response_iss_parameter_supported"] === true,
    scopes: textsIn(body["scopes_supported"]),
  };
}

/** @throws AuthFault for an address that a browser or a shell could take for something else */
function addressIn(body: JsonObject, name: string): string | undefined {
  const value = body[name];
  if (value === undefined) return undefined;
  const url = typeof value === "string" ? URL.parse(value) : null;
  const isWeb = url?.protocol === "https:" || url?.protocol === "http:";
  if (!url || !isWeb || url.hash !== "" || url.username !== "" || url.password !== "")
    throw new AuthFault(`the ${name} ${shown(value)} is no address of the web`);
  return url.href;
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

/** What a challenge says (RFC 6750, RFC 9728). */
export interface Challenge {
  readonly document?: string;
  readonly scope?: string;
  readonly error?: string;
}

export function challengeIn(header: string | undefined): Challenge {
  if (header === undefined || !/^\s*bearer\b/i.test(header)) return {};
  const found: Record<string, string> = {};
  for (const [, name, quoted, token] of header.matchAll(/([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))/g))
    found[name!.toLowerCase()] ??= quoted?.replace(/\\(.)/g, "$1") ?? token!;
  const { resource_metadata: document, scope, error } = found;
  return {
    ...(document !== undefined && { document }),
    ...(scope !== undefined && { scope }),
    ...(error !== undefined && { error }),
  };
}
