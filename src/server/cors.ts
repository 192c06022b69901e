/** Cross-origin requests (Fetch Standard, CORS protocol): which browser apps may call the gateway. Off without origins. */

/** What `cors` of the config says. */
export interface CorsOptions {
  /** Origins as browsers send them (`https://app.example.com`), or `*` for any. Empty: no browser app of another origin. */
  origins: readonly string[];
}

/** Seconds a browser may remember the answer to a preflight; browsers have limits of their own. */
const MAX_AGE = "7200";
/** Names of headers, separated by commas, in a length no client needs. */
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]*,[ \t]*[\w!#$%&'*+.^`|~-]+)*$/;
const LONGEST_NAMES = 4096;

type Fetch = (request: Request) => Response | Promise<Response>;

/**
 * Answers preflights of the allowed origins, and lets their apps read every answer with all of its headers, errors too.
 * To other origins, and without any, the gateway answers as if CORS did not exist: their browsers show the app nothing.
 */
export function withCors({ origins }: CorsOptions, fetch: Fetch): Fetch {
  if (origins.length === 0) return fetch;
  const allowed = new Set(origins);
  const any = allowed.has("*");
  return async (request) => {
    const origin = request.headers.get("origin")?.toLowerCase();
    const named = any && origin !== undefined ? "*" : origin;
    const isAllowed = named !== undefined && allowed.has(named);
    if (isAllowed && isPreflight(request)) return answerPreflight(request, named);
    const answer = await fetch(request);
    // Caches must not hand the answer for one origin to another.
    if (!any) answer.headers.append("vary", "origin");
    if (isAllowed) expose(answer, named);
    return answer;
  };
}

function isPreflight({ method, headers }: Request): boolean {
  return method === "OPTIONS" && headers.has("access-control-request-method");
}

/** The headers an SDK sends differ by version, so that those the browser asks for are allowed by name. */
function answerPreflight(request: Request, origin: string): Response {
  const wanted = request.headers.get("access-control-request-headers")?.trim() ?? "";
  const fits = wanted.length <= LONGEST_NAMES && HEADER_NAMES.test(wanted);
  return new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-origin": origin,
      "access-control-allow-methods": "GET, HEAD, POST",
      ...(fits && { "access-control-allow-headers": wanted }),
      "access-control-max-age": MAX_AGE,
      vary: "origin, access-control-request-headers",
    },
  });
}

/** A wildcard exposes every header to requests without cookies, and the gateway takes none. */
function expose({ headers }: Response, origin: string): void {
  headers.set("access-control-allow-origin", origin);
  headers.set("access-control-expose-headers", "*");
}
