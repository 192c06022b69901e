/** Token exchange (RFC 8693): a token of CI or of a workload for one of weir's own, for programs that keep one for a while. */
import { excessOf } from "../../../ledger/keys/scopes.ts";
import type { TokenForm } from "../form.ts";
import { type Form, OAuthError } from "./oauth.ts";
import type { OwnTokens } from "./own-tokens.ts";
import { isKnown, modelsIn } from "./scope.ts";

export const EXCHANGE_GRANT = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";
const SUBJECT_TYPES = new Set([
  "urn:ietf:params:oauth:token-type:jwt",
  "urn:ietf:params:oauth:token-type:id_token",
  ACCESS_TOKEN,
]);

/** @throws OAuthError, and GatewayError for a subject token that is refused */
export async function exchange(given: Form, own: OwnTokens, form: TokenForm): Promise<object> {
  const text = (name: string) => given.text(name);
  const subject = given.expect("subject_token");
  const type = text("subject_token_type") ?? "";
  if (!SUBJECT_TYPES.has(type))
    throw new OAuthError("invalid_request", "The subject_token_type must be that of a JWT.");
  const wanted = text("requested_token_type") ?? ACCESS_TOKEN;
  if (wanted !== ACCESS_TOKEN)
    throw new OAuthError("invalid_request", `The requested_token_type must be ${ACCESS_TOKEN}.`);
  if (text("actor_token") !== undefined)
    throw new OAuthError("invalid_request", "weir takes no actor_token.");
  for (const target of [...given.all("audience"), ...given.all("resource")])
    if (target !== own.url) throw new OAuthError("invalid_target", `The only audience is ${own.url}.`);
  const { entry, identified, standing } = await form.exchange(subject);
  const scope = text("scope");
  if (scope !== undefined) expectScope(scope, entry.scopes);
  const seconds = secondsOf(text("expires_in"), own.longestMs / 1_000);
  const { person, name, client } = identified;
  const facts = {
    ...{ person, name, path: standing.path, entry: entry.name },
    ...(client !== undefined && { client }),
    ...(scope !== undefined && { scope }),
  };
  return {
    access_token: await own.make(facts, seconds * 1_000),
    ...{ issued_token_type: ACCESS_TOKEN, token_type: "Bearer", expires_in: seconds },
    ...(scope !== undefined && { scope }),
  };
}

/** @throws OAuthError for a scope that is none, or wider than what the entry permits */
function expectScope(scope: string, permitted: Parameters<typeof excessOf>[1]): void {
  if (!isKnown(scope))
    throw new OAuthError(
      "invalid_scope",
      "A scope is written models:NAME or tools; several have spaces between them.",
    );
  const models = modelsIn(scope);
  if (models && excessOf({ ...permitted, models }, permitted))
    throw new OAuthError("invalid_scope", "The scope has more models than the subject token permits.");
}

function secondsOf(text: string | undefined, longest: number): number {
  if (text === undefined) return longest;
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (seconds < 1 || seconds > longest)
    throw new OAuthError("invalid_request", `expires_in must be 1 to ${longest} seconds.`);
  return seconds;
}
