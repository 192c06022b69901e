/** The pages of a sign-in. */
import { escaped, HEADERS, page } from "../../../core/page.ts";
import { systemCode } from "../../../core/system-error.ts";

/** @param hint about cookies on plain http */
export function signInPage(providers: readonly string[], to: string, hint: string): Response {
  const links = providers.map(
    (name) =>
      `<a class="go" href="/auth/login/${escaped(name)}?to=${encodeURIComponent(to)}">Sign in with ${escaped(name)}</a>`,
  );
  return page(
    "Sign in to weir",
    `<p>${links.join("")}</p><p>Or with a key: <a href="/console">console</a></p>${hint}`,
  );
}

/** Always the same, whatever was wrong: the log has the cause under the name of the attempt. */
export function refusedPage(attempt: string): Response {
  const sentence = `weir could not sign you in. Ask the operator for attempt <code>${escaped(attempt)}</code>.`;
  return page("Not signed in", `<p>${sentence}</p><p><a href="/auth/">Try again</a></p>`, 403);
}

export function awayPage(provider: string): Response {
  const body = `<p>The provider ${escaped(provider)} cannot be reached at the moment. Try again in a minute.</p><p><a href="/auth/">Back</a></p>`;
  return page("Sign-in is not possible", body, 503, { "retry-after": "60" });
}

/** Why a page could not be made, for the log. */
export function causeOf(cause: unknown): string {
  return systemCode(cause) ?? (cause instanceof Error ? cause.message : String(cause));
}

export function notAllowed(allow: string): Response {
  return new Response(null, { status: 405, headers: { ...HEADERS, allow } });
}
