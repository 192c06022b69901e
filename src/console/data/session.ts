/** Who is signed in, and the sign-in by the link that weir prints at its start. */
import { signal } from "./signal.ts";
import { ApiError, get, send, signedOut, anew } from "./api.ts";
import { prove } from "./status.ts";
import type { Session } from "./types.ts";

/** Undefined until weir has answered. */
export const session = signal<Session | undefined>(undefined);
/** Why the link did not sign in. */
export const linkFault = signal<string | undefined>(undefined);

/** Trades the token behind `#t=` for the cookie, and finds out who is signed in. */
export async function enter(): Promise<void> {
  const token = /^#t=(.+)$/.exec(location.hash)?.[1];
  try {
    if (token !== undefined) {
      // The token must not stay in the history of the browser.
      history.replaceState(null, "", location.pathname + location.search);
      return await signIn({ token });
    }
  } catch (cause) {
    if (cause instanceof ApiError) linkFault.value = cause.message;
  }
  try {
    // A link that was used already is no fault of a browser that has a cookie.
    session.value = await get<Session>("/session");
  } catch {
    // The client has noted that no one is signed in, or that weir does not answer.
  }
}

/** @throws ApiError */
export async function signIn(by: { token: string } | { key: string }): Promise<void> {
  session.value = await send<Session>("POST", "/session", { body: by });
  signedOut.value = false;
  anew.value += 1;
  void prove();
}

/** Why the signed-in key may not change anything; undefined if it may. For the `why` of buttons. */
export function readOnly(): string | undefined {
  return session.value?.role === "read" ? "This key can look, not change." : undefined;
}
