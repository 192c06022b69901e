/** CORS (Fetch Standard): which browser apps may call the gateway. Off without origins. */

/** The section `cors` of the config. */
export interface CorsOptions {
  /** Origins as browsers send them (`https://app.example.com`), or `*` for all. Empty: CORS is off. */
  origins: readonly string[];
}

/** How long browsers may cache the answer to a preflight; browsers have lower limits of their own. Seconds. */
const MAX_AGE = "7200";
/** A list of header names. */
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]*,[ \t]*[\w!#$%&'*+.^`|~-]+)*$/;
/** Longer lists are refused. Characters. */
const MAX_HEADER_NAMES = 4096;

type Fetch = (request: Request) => Response | Promise<Response>;

/**
 * Answers preflights of allowed origins, and lets their apps read all answers and headers, errors included. Answers for other
 * origins get no CORS headers, so that browsers hide them from the app.
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
    // Caches must not use the answer for one origin for another origin.
    if (!any) answer.headers.append("vary", "origin");
    if (isAllowed) expose(answer, named);
    return answer;
  };
}

function isPreflight({ method, headers }: Request): boolean {
  return method === "OPTIONS" && headers.has("access-control-request-method");
}

/** Allows the headers that the browser asks for, by name: SDKs send different headers in each version. */
function answerPreflight(request: Request, origin: string): Response {
  const wanted = request.headers.get("access-control-request-headers")?.trim() ?? "";
  const fits = wanted.length <= MAX_HEADER_NAMES && HEADER_NAMES.test(wanted);
  return new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-origin": origin,
      "access-control-allow-methods": "GET, HEAD, POST, PATCH, DELETE",
      ...(fits && { "access-control-allow-headers": wanted }),
      "access-control-max-age": MAX_AGE,
      vary: "origin, access-control-request-headers",
    },
  });
}

/** `*` exposes all headers for requests without credentials mode, which weir's clients do not use. */
function expose({ headers }: Response, origin: string): void {
  headers.set("access-control-allow-origin", origin);
  headers.set("access-control-expose-headers", "*");
}
