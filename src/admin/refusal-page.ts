/** A refusal as a page, for a browser: it says which option helps. Programs get the same as JSON. */
import type { AdminError } from "../operator/errors.ts";

/** What helps, by the code of the error. */
const HELP: Readonly<Record<string, (host: string) => string>> = {
  host_not_allowed: (host) =>
    `<p>If you reach weir by this name on purpose, as through a proxy, list it in weir.yaml and reload:</p>
<pre>admin:
  names: [${host}]</pre>
<p>Addresses and <code>localhost</code> need no entry, with any port: <code>ssh -L</code>, <code>docker -p</code> and
<code>kubectl port-forward</code> work as they are.</p>`,
  origin_not_allowed: () =>
    `<p>Behind a proxy that replaces the Host header, list the name that the browser shows in
<code>admin.names</code>.</p>`,
};

/** Whether a person opened the address in a browser. */
export function wantsPage(request: Request): boolean {
  return request.method === "GET" && /\btext\/html\b/.test(request.headers.get("accept") ?? "");
}

export function refusalPage({ status, code, message, headers }: AdminError, request: Request): Response {
  const host = (request.headers.get("host") ?? "").replace(/:\d+$/, "");
  const text = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>weir: ${escaped(code)}</title></head>
<body>
<h1>weir refused this request</h1>
<p>${escaped(message)}</p>
${HELP[code]?.(escaped(host)) ?? ""}
</body>
</html>
`;
  return new Response(text, {
    status,
    headers: {
      ...headers,
      "cache-control": "no-store",
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
      "x-content-type-options": "nosniff",
    },
  });
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
