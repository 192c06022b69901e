/** Tokens of weir as a sign-in gives them, made with the secret that the gateway of a test has. */
import { type OwnFacts, OwnTokens } from "../../own/own-tokens.ts";
import { personId } from "../../people.ts";

export const SECRET = "planted-secret-of-weirs-own-tokens-0001";
export const WEIR = "https://weir.corp.example";

/** The section of a gateway that admits them, with a provider of this name. */
export const IDENTITY = {
  url: WEIR,
  tokens: { secret: SECRET },
  providers: { okta: { issuer: "http://127.0.0.1:9", audience: "weir" } },
};

/** @param now of the moment at which it is made */
export function tokenOf(who: string, more: Partial<OwnFacts> = {}, now = Date.now): Promise<string> {
  const facts = {
    person: personId("http://127.0.0.1:9", who),
    name: who,
    path: `/people/${who}`,
    entry: "okta",
  };
  return new OwnTokens(WEIR, SECRET, now).make({ ...facts, ...more }, 3_600_000);
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
