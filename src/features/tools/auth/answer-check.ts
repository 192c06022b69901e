/** Whether an authorization server says who it is as it promised, found without a person: it is asked as a browser would ask it. */
import { authorizationAddress, expectCodes, issFault } from "./accounts.ts";
import type { Authorities, Guarded } from "./authorities.ts";
import { AuthFault } from "./credential.ts";
import { randomSecret } from "./links.ts";

/**
 * No user is signed in, so most servers show a page, of which nothing can be said, or send the browser back with an error, which has
 * `iss` as every answer (RFC 9207). Where weir would have to register itself first, nothing is asked.
 * @returns a clause for an answer that weir would not take @throws AuthFault for a server that cannot be asked for codes
 */
export async function answerFault(authorities: Authorities, server: Guarded): Promise<string | undefined> {
  const found = await authorities.find(server);
  const endpoint = expectCodes(found);
  const client = authorities.knownClient(server, found);
  if (!client) return undefined;
  const { redirect } = authorities;
  const address = authorizationAddress(endpoint, {
    ...{ client, redirect, state: randomSecret(), verifier: randomSecret() },
    ...{ resource: found.guarded.resource, asked: server.client.scope ?? found.guarded.scope ?? "" },
  });
  address.searchParams.set("prompt", "none");
  const back = await whereTo(authorities, server, address);
  if (!back || back.origin + back.pathname !== redirect) return undefined;
  return issFault(found, back.searchParams.get("iss") ?? undefined);
}

/** Where the browser would go; undefined: it sees a page, or weir may not ask. */
async function whereTo(authorities: Authorities, server: Guarded, address: URL): Promise<URL | undefined> {
  try {
    const { header } = await authorities.ask(server)(address.href, { stays: true });
    return URL.parse(header("location") ?? "", address) ?? undefined;
  } catch (thrown) {
    if (thrown instanceof AuthFault) return undefined;
    throw thrown;
  }
}
