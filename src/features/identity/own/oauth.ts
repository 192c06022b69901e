/** Requests and answers of the authorization server (RFC 6749). */
import type { OAuthAnswer } from "../messages.ts";

const MOST_BYTES = 65_536;

/** An error of RFC 6749 5.2, and of the specifications that add to it. */
export class OAuthError extends Error {
  constructor(
    readonly code: string,
    sentence: string,
    readonly status = 400,
  ) {
    super(sentence);
  }
}

export function answerOf({ code, message, status }: OAuthError): OAuthAnswer {
  return { status, body: { error: code, error_description: message } };
}

/** Pages of other sites may read it: it says nothing that depends on a cookie. */
export function respond({ status, body }: OAuthAnswer, cached = "no-store"): Response {
  const headers = {
    ...{ "cache-control": cached, "x-content-type-options": "nosniff", "access-control-allow-origin": "*" },
    ...(status === 429 && { "retry-after": "60" }),
  };
  return body === undefined
    ? new Response(null, { status, headers })
    : Response.json(body, { status, headers });
}

/** The parameters of a request. An empty one is an absent one (RFC 6749 3.1). */
export class Form {
  readonly #given: URLSearchParams;

  constructor(given: URLSearchParams) {
    this.#given = given;
  }

  /** @throws OAuthError for one that is there twice */
  text(name: string): string | undefined {
    const all = this.#given.getAll(name);
    if (all.length > 1) throw new OAuthError("invalid_request", `The parameter ${name} is there twice.`);
    return all[0] === "" ? undefined : all[0];
  }

  /** @throws OAuthError for one that is absent */
  expect(name: string): string {
    const text = this.text(name);
    if (text === undefined) throw new OAuthError("invalid_request", `The parameter ${name} is missing.`);
    return text;
  }

  all(name: string): readonly string[] {
    return this.#given.getAll(name).filter((text) => text !== "");
  }

  pairs(): (readonly [string, string])[] {
    return [...this.#given];
  }
}

/** @throws OAuthError for a body that is no form, or too large */
export async function formOf(request: Request): Promise<Form> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(type))
    throw new OAuthError("invalid_request", "The body must be application/x-www-form-urlencoded.");
  return new Form(new URLSearchParams(await textOf(request)));
}

/** @throws OAuthError for a body that is too large */
export async function textOf(request: Request): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of request.body ?? []) {
    bytes += piece.length;
    if (bytes > MOST_BYTES) throw new OAuthError("invalid_request", "The body is too large.", 413);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}
