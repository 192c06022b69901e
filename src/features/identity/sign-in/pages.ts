/** The pages of a sign-in: no script, and nothing from elsewhere. */
import { systemCode } from "../../../core/system-error.ts";

export const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
export const HEADERS = {
  "content-security-policy": POLICY,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  // With `no-referrer` browsers send forms with the origin `null`, as those of other sites.
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "cache-control": "no-store",
};

const STYLE =
  "body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem;color-scheme:light dark}a.go{display:inline-block;padding:.5rem 1rem;border:1px solid;border-radius:.4rem;margin:.2rem .4rem .2rem 0}td,th{text-align:left;padding:.1rem 1rem .1rem 0;vertical-align:top}pre{overflow-x:auto}";

export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** @param body HTML */
export function page(
  title: string,
  body: string,
  status = 200,
  headers: Record<string, string> = {},
): Response {
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title><style>${STYLE}</style><main><h1>${escaped(title)}</h1>${body}</main></html>`;
  return new Response(html, {
    status,
    headers: { ...HEADERS, "content-type": "text/html; charset=utf-8", ...headers },
  });
}

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
