/** Pages of weir for browsers: no script, and nothing from elsewhere. */

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
