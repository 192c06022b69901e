/** The provider in front of which gateways are compared: it records what it gets, and answers with the tokens that a call names. */
import { startUpstream, type UpstreamRequest } from "../../../../../test/helpers/upstream.ts";
import { answerTo } from "./answers.ts";
import type { Tokens } from "./corpus.ts";

export interface Sent {
  /** Host, path and query. */
  url: string;
  /** Names in lower case, in their order, without those that say nothing of the call. */
  headers: readonly string[];
  body: string;
}

export interface Fake {
  /** `http://127.0.0.1:PORT`. */
  url: string;
  /** From now on requests are answered with these tokens. @returns what was sent since the last time */
  next(tokens: Tokens): Sent[];
  stop(): void;
}

/** The length follows from the body, and the ids differ with each call. */
const VOLATILE = new Set(["content-length", "traceparent", "x-request-id", "x-amz-date", "host"]);

export function startFake(): Fake {
  let tokens: Tokens = { input: 1, cacheRead: 0, output: 1 };
  const upstream = startUpstream(({ path, body }) => {
    const text = body.toString();
    const value = text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
    return answerTo(path, value, tokens);
  });
  return {
    url: upstream.url,
    next(given) {
      tokens = given;
      // weir asks some hosts for their models, whenever it is.
      return upstream.requests
        .splice(0)
        .flatMap((request) => (request.method === "POST" ? [sentIn(request)] : []));
    },
    stop: () => upstream.stop(),
  };
}

function sentIn({ path, rawHeaders, headers, body }: UpstreamRequest): Sent {
  return {
    url: `${headers.get("host") ?? ""}${path}`,
    headers: rawHeaders
      .map(([name, value]) => [name.toLowerCase(), value] as const)
      .filter(([name]) => !VOLATILE.has(name))
      .map(([name, value]) => `${name}: ${value}`),
    body: body.toString("latin1"),
  };
}
