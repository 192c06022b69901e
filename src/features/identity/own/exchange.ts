/** Token exchange (RFC 8693): a token of CI or of a workload for one of weir's own, for programs that keep one for a while. */
import { GatewayError } from "../../../core/error.ts";
import type { OwnRoute } from "../../../gateway/seams.ts";
import { excessOf, scopesFault } from "../../../ledger/keys/scopes.ts";
import type { TokenForm } from "../form.ts";
import { modelsIn, type OwnTokens } from "./own-tokens.ts";

const GRANT = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";
const SUBJECT_TYPES = new Set([
  "urn:ietf:params:oauth:token-type:jwt",
  "urn:ietf:params:oauth:token-type:id_token",
  ACCESS_TOKEN,
]);
const MOST_BYTES = 65_536;

/** An error of RFC 6749 5.2. */
class OAuthError extends Error {
  constructor(
    readonly code: string,
    sentence: string,
    readonly status = 400,
  ) {
    super(sentence);
  }
}

/** The routes of the authorization server. */
export function exchangeRoutes(own: OwnTokens, form: TokenForm): OwnRoute[] {
  const { url } = own;
  return [
    {
      ...{ method: "POST", path: "/oauth/token", id: "exchangeToken" },
      summary: "Exchange a token of an issuer for one of weir (RFC 8693)",
      handle: (request) => answered(() => exchange(request, own, form)),
    },
    {
      ...{
        method: "GET",
        path: "/oauth/jwks",
        id: "tokenKeys",
        summary: "The public keys of weir's own tokens",
      },
      handle: async () => json(await own.keys.published(), 200, "public, max-age=3600"),
    },
    {
      ...{ method: "GET", path: "/.well-known/oauth-authorization-server", id: "authorizationServer" },
      summary: "What the authorization server of weir can do (RFC 8414)",
      handle: () =>
        json(
          {
            ...{ issuer: url, token_endpoint: `${url}/oauth/token`, jwks_uri: `${url}/oauth/jwks` },
            ...{ response_types_supported: [], grant_types_supported: [GRANT] },
            token_endpoint_auth_methods_supported: ["none"],
          },
          200,
          "public, max-age=3600",
        ),
    },
  ];
}

async function exchange(request: Request, own: OwnTokens, form: TokenForm): Promise<object> {
  const given = await formOf(request);
  const text = (name: string) => {
    const all = given.getAll(name);
    if (all.length > 1) throw new OAuthError("invalid_request", `The parameter ${name} is there twice.`);
    return all[0] === "" ? undefined : all[0];
  };
  if (text("grant_type") !== GRANT)
    throw new OAuthError("unsupported_grant_type", `The grant_type must be ${GRANT}.`);
  const subject = text("subject_token");
  if (subject === undefined)
    throw new OAuthError("invalid_request", "The parameter subject_token is missing.");
  const type = text("subject_token_type") ?? "";
  if (!SUBJECT_TYPES.has(type))
    throw new OAuthError("invalid_request", "The subject_token_type must be that of a JWT.");
  const wanted = text("requested_token_type") ?? ACCESS_TOKEN;
  if (wanted !== ACCESS_TOKEN)
    throw new OAuthError("invalid_request", `The requested_token_type must be ${ACCESS_TOKEN}.`);
  if (text("actor_token") !== undefined)
    throw new OAuthError("invalid_request", "weir takes no actor_token.");
  for (const target of [...given.getAll("audience"), ...given.getAll("resource")])
    if (target !== own.url) throw new OAuthError("invalid_target", `The only audience is ${own.url}.`);
  const { entry, identified, standing } = await form.exchange(subject);
  const scope = text("scope");
  const models = scope === undefined ? undefined : modelsOf(scope, entry.scopes);
  const seconds = secondsOf(text("expires_in"), own.longestMs / 1_000);
  const { person, name, client } = identified;
  const facts = {
    ...{ person, name, path: standing.path, entry: entry.name },
    ...(client !== undefined && { client }),
    ...(models && { models }),
  };
  return {
    access_token: await own.make(facts, seconds * 1_000),
    ...{ issued_token_type: ACCESS_TOKEN, token_type: "Bearer", expires_in: seconds },
    ...(scope !== undefined && { scope }),
  };
}

/** @throws OAuthError for a scope that is none, or wider than what the entry permits */
function modelsOf(scope: string, permitted: Parameters<typeof excessOf>[1]): readonly string[] {
  const models = modelsIn(scope);
  const wrong = models ? scopesFault({ models }) : undefined;
  if (!models || wrong)
    throw new OAuthError(
      "invalid_scope",
      "A scope is written models:NAME; several have spaces between them.",
    );
  if (excessOf({ ...permitted, models }, permitted))
    throw new OAuthError("invalid_scope", "The scope has more models than the subject token permits.");
  return models;
}

function secondsOf(text: string | undefined, longest: number): number {
  if (text === undefined) return longest;
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (seconds < 1 || seconds > longest)
    throw new OAuthError("invalid_request", `expires_in must be 1 to ${longest} seconds.`);
  return seconds;
}

async function formOf(request: Request): Promise<URLSearchParams> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(type))
    throw new OAuthError("invalid_request", "The body must be application/x-www-form-urlencoded.");
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of request.body ?? []) {
    bytes += piece.length;
    if (bytes > MOST_BYTES) throw new OAuthError("invalid_request", "The body is too large.", 413);
    pieces.push(piece);
  }
  return new URLSearchParams(Buffer.concat(pieces).toString("utf8"));
}

async function answered(work: () => Promise<object>): Promise<Response> {
  try {
    return json(await work());
  } catch (thrown) {
    if (thrown instanceof OAuthError)
      return json({ error: thrown.code, error_description: thrown.message }, thrown.status);
    if (!(thrown instanceof GatewayError)) throw thrown;
    // Why a token is refused is in the log; the sentence is the one for calls.
    const isAway = thrown.kind === "overloaded";
    return json(
      { error: isAway ? "temporarily_unavailable" : "invalid_request", error_description: thrown.message },
      isAway ? 503 : 400,
    );
  }
}

function json(body: object, status = 200, cached = "no-store"): Response {
  return Response.json(body, {
    status,
    headers: { "cache-control": cached, "x-content-type-options": "nosniff" },
  });
}
