/** The endpoints of the authorization server on the gateway's listener. What needs the store is asked of the keeper. */
import { GatewayError } from "../../../core/error.ts";
import type { OwnRoute, Visit } from "../../../gateway/seams.ts";
import type { Asks } from "../asks.ts";
import type { TokenForm } from "../form.ts";
import type { OAuthAnswer } from "../messages.ts";
import { exchange, EXCHANGE_GRANT } from "./exchange.ts";
import { type Abilities, metadata } from "./metadata.ts";
import { answerOf, formOf, OAuthError, respond, textOf } from "./oauth.ts";
import type { OwnTokens } from "./own-tokens.ts";

/** Metadata and keys may be kept that long by who reads them. */
const PUBLIC = "public, max-age=3600";

export interface RoutesOptions {
  readonly own: OwnTokens;
  readonly form: TokenForm;
  /** Absent: people do not sign in. */
  readonly signsIn: Abilities["signsIn"];
  readonly asks: Asks;
}

export function oauthRoutes({ own, form, signsIn, asks }: RoutesOptions): OwnRoute[] {
  const { url } = own;
  const document = () =>
    respond({ status: 200, body: metadata({ url, ...(signsIn && { signsIn }) }) }, PUBLIC);
  const always: OwnRoute[] = [
    {
      ...{ method: "POST", path: "/oauth/token", id: "exchangeToken" },
      summary:
        "Get a token of weir: in exchange for a token of an issuer (RFC 8693), or for a program of a person",
      handle: (request, { address }) =>
        answered(async () => {
          const given = await formOf(request);
          if (given.text("grant_type") === EXCHANGE_GRANT)
            return { status: 200, body: await exchange(given, own, form) };
          if (!signsIn)
            throw new OAuthError("unsupported_grant_type", `The grant_type must be ${EXCHANGE_GRANT}.`);
          return asks.ask({ oauth: { endpoint: "token", form: given.pairs(), address } });
        }),
    },
    {
      ...{ method: "GET", path: "/oauth/jwks", id: "tokenKeys" },
      summary: "The public keys of weir's own tokens",
      handle: async () => respond({ status: 200, body: await own.keys.published() }, PUBLIC),
    },
    {
      ...{ method: "GET", path: "/.well-known/oauth-authorization-server", id: "authorizationServer" },
      summary: "What the authorization server of weir can do (RFC 8414)",
      handle: document,
    },
    {
      ...{ method: "GET", path: "/.well-known/openid-configuration", id: "openidConfiguration" },
      summary: "The same, where clients of OpenID Connect look for it",
      handle: document,
    },
  ];
  return signsIn ? [...always, ...programRoutes(asks, signsIn.registers)] : always;
}

function programRoutes(asks: Asks, registers: boolean): OwnRoute[] {
  const relayed = (endpoint: "device" | "revoke"): OwnRoute["handle"] => {
    return (request, { address }) =>
      answered(async () => asks.ask({ oauth: { endpoint, form: (await formOf(request)).pairs(), address } }));
  };
  return [
    {
      ...{ method: "POST", path: "/oauth/device_authorization", id: "authorizeDevice" },
      summary: "Begin the sign-in of a program without a browser (RFC 8628)",
      handle: relayed("device"),
    },
    {
      ...{ method: "POST", path: "/oauth/revoke", id: "revokeOwnToken" },
      summary: "End the tokens of a program (RFC 7009)",
      handle: relayed("revoke"),
    },
    ...(registers
      ? [
          {
            ...{ method: "POST" as const, path: "/oauth/register", id: "registerProgram" },
            summary: "Register a program (RFC 7591)",
            handle: (request: Request, { address }: Visit) =>
              answered(async () =>
                asks.ask({ oauth: { endpoint: "register", text: await textOf(request), address } }),
              ),
          },
        ]
      : []),
  ];
}

async function answered(work: () => Promise<OAuthAnswer>): Promise<Response> {
  try {
    return respond(await work());
  } catch (thrown) {
    if (thrown instanceof OAuthError) return respond(answerOf(thrown));
    if (!(thrown instanceof GatewayError)) throw thrown;
    // Why a token is refused is in the log; the sentence is the one for calls.
    const isAway = thrown.kind === "overloaded";
    const error = isAway ? "temporarily_unavailable" : "invalid_request";
    return respond({ status: isAway ? 503 : 400, body: { error, error_description: thrown.message } });
  }
}
