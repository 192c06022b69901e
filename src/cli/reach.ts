/**
 * Asks the host of a provider whether calls would reach it, over the same connections as calls: with a request that
 * every host refuses, so that it generates nothing. What the host says is never printed, because it may repeat the credential.
 */
import { GatewayError } from "../core/error.ts";
import type { ActiveProvider, Deployment } from "../core/provider.ts";
import { variableName } from "../core/settings.ts";
import { authorizedHeaders } from "../gateway/routing/authorizer.ts";
import { templatesOf, urlOfPath, urlsOf } from "../gateway/routing/endpoint.ts";
import { saysNoPath } from "../gateway/lanes/missing-path.ts";
import { describeReason, type Reason, reasonOf, type UpstreamResponse } from "../gateway/lanes/transport.ts";
import { createTransport, proxyFor } from "../http/index.ts";

/** Maximum time for a host to answer. Milliseconds. */
const PROBE_TIMEOUT_MS = 3000;
/** Maximum number of bytes that are read of an answer. */
const MOST_READ = 16_384;

/** A short idle timeout: a kept-alive connection would keep the command from ending. */
const transport = createTransport(process.env, { idleMs: 1 });

export type Reachability =
  "reachable" | "unauthorised" | "unreachable" | "wrong address" | "in this process" | "not asked";

export interface Finding {
  verdict: Reachability;
  /** For a provider that cannot serve calls: the end of the sentence "NAME at URL …", and what to do. */
  fault?: string;
  /** Formats that the provider declares but the host has no path for. */
  missing: string[];
  /** URL of the proxy that is used, without its credentials. */
  proxy?: string;
}

/**
 * llama-cpp-python generates an answer to `{}`, and llama.cpp's own server one to `messages` that is no list: only a
 * message that is no object is refused by all.
 */
const REFUSED = new TextEncoder().encode('{"messages":[0]}');

type Environment = Readonly<Record<string, string | undefined>>;

/** A model name for paths that contain one. */
const MODEL = "weir-check";

/** @param env environment of the process, for its proxy variables */
export async function reach(provider: ActiveProvider, place: Deployment, env: Environment): Promise<Finding> {
  // A host that speaks a format is not asked for embeddings: many lack them until a model for them is loaded.
  const formats = provider.speaks ? Object.keys(provider.speaks) : templatesOf(provider).map(([id]) => id);
  if (formats.length === 0) return { verdict: "in this process", missing: [] };
  const ask = (format: string, baseUrl = place.baseUrl) =>
    askHost(urlAt(provider, { ...place, baseUrl }, format), provider, place);
  const judged = await Promise.all(
    formats.map(async (format) => ({ format, ...judge(await ask(format), provider, place) })),
  );
  const best = ORDER.map((verdict) => judged.find((each) => each.verdict === verdict)).find(Boolean)!;
  const proxy = proxyFor(place.baseUrl, env);
  const found = {
    verdict: best.verdict,
    missing: best.noPath ? [] : judged.filter(({ noPath }) => noPath).map(({ format }) => format),
    ...(proxy !== undefined && { proxy: withoutCredentials(proxy) }),
  };
  if (best.fault === undefined) return found;
  const other = best.verdict === "wrong address" ? otherBaseUrl(place.baseUrl) : undefined;
  const better = other !== undefined && judge(await ask(best.format, other), provider, place).isApi;
  return { ...found, fault: better ? `${best.fault}; did you mean ${other}?` : best.fault };
}

/** The URL of a format, or of a dialect of embeddings or of a kind. */
function urlAt(provider: ActiveProvider, place: Deployment, format: string): string {
  if (provider.speaks) return urlsOf(provider, place, format, MODEL).url;
  const [, path] = templatesOf(provider).find(([id]) => id === format)!;
  return urlOfPath(path, place, MODEL);
}

/** Formats whose path a host does not have. Hosts of a single format are not probed; an unreachable host lacks none. */
export async function missingFormats(
  provider: ActiveProvider,
  place: Deployment,
  env: Environment,
): Promise<string[]> {
  return Object.keys(provider.speaks ?? {}).length < 2 ? [] : (await reach(provider, place, env)).missing;
}

/** The best verdict over all formats counts: weir sends calls there. */
const ORDER: readonly Reachability[] = ["reachable", "unauthorised", "wrong address", "unreachable"];

/** OpenAI's base URLs end in `/v1`, Anthropic's do not. People confuse the two. */
function otherBaseUrl(baseUrl: string): string {
  return baseUrl.endsWith("/v1") ? baseUrl.slice(0, -"/v1".length) : `${baseUrl}/v1`;
}

function withoutCredentials(proxy: string): string {
  return URL.canParse(proxy) ? new URL(proxy).origin : "a proxy whose URL is not valid";
}

/** The host's answer, or the `reason` why none arrived, with what the plugin said if it could not authorize the request. */
type Answer =
  | { reason: Reason | "silent"; detail?: string }
  | {
      reason?: undefined;
      status: number;
      location: string | null;
      isPage: boolean;
      said: string;
      /** The name of an error of AWS. */
      errorType?: string;
    };

async function askHost(url: string, provider: ActiveProvider, place: Deployment): Promise<Answer> {
  try {
    const request = {
      url,
      headers: {
        "user-agent": "weir",
        ...provider.headers,
        "content-type": "application/json",
        accept: "application/json",
        ...place.credentials,
      },
      body: [REFUSED],
      stop: AbortSignal.timeout(PROBE_TIMEOUT_MS),
      connectMs: PROBE_TIMEOUT_MS,
      tls: place.tls,
    };
    const { authorizer } = place;
    if (authorizer)
      request.headers = { ...request.headers, ...(await authorizedHeaders(request, authorizer)) };
    const response = await transport(request);
    const said = await readStart(response);
    const type = response.headers.get("content-type") ?? "";
    return {
      status: response.status,
      location: response.headers.get("location"),
      isPage: /\bhtml\b/i.test(type) || /^\s*<(!doctype|html)/i.test(said),
      said,
      errorType: /^\w{1,60}/.exec(response.headers.get("x-amzn-errortype") ?? "")?.[0],
    };
  } catch (thrown) {
    const cause = thrown instanceof GatewayError ? thrown.cause : thrown;
    const reason = reasonOf(cause) ?? "silent";
    const isPlugin = reason === "authorization" && cause instanceof Error;
    return isPlugin ? { reason, detail: masked(cause.message, place) } : { reason };
  }
}

/** The error of a plugin, without credentials, as the end of a sentence. */
function masked(message: string, { authorizer }: Deployment): string {
  const clean = (authorizer?.concealed ?? []).reduce(
    (text, secret) => text.replaceAll(secret, "***"),
    message,
  );
  return clean.replace(/\.$/, "");
}

/** Reads the start of a body, then closes the connection. */
async function readStart({ body }: UpstreamResponse): Promise<string> {
  const reader = body?.getReader();
  if (!reader) return "";
  const decoder = new TextDecoder();
  let text = "";
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
    text += decoder.decode(value, { stream: true });
    if (text.length >= MOST_READ) break;
  }
  await reader.cancel();
  return text.slice(0, MOST_READ);
}

interface Judgement {
  verdict: Reachability;
  fault?: string;
  /** The host does not have the path. */
  noPath?: boolean;
  /** An API answered, not a web page. */
  isApi?: boolean;
}

/** The meaning of an answer. The first rule that matches applies. */
function judge(answer: Answer, provider: ActiveProvider, place: Deployment): Judgement {
  if (answer.reason !== undefined) return { verdict: "unreachable", fault: whyNoAnswer(answer) };
  const { status, location, isPage, said, errorType } = answer;
  if (SPEAKS_HTTP2.test(said) && [400, 403, 426, 505].includes(status))
    return { verdict: "unreachable", fault: describeReason("http2") };
  if (status >= 300 && status < 400)
    return {
      verdict: "wrong address",
      fault: `redirects to ${originOf(location)}, and weir follows no redirects; set the base URL of the API itself`,
    };
  if (status === 407) return { verdict: "unreachable", fault: "is behind a proxy that requires credentials" };
  if (isPage)
    return {
      verdict: "wrong address",
      noPath: status === 404,
      fault: `answers with a web page (status ${status}): its base URL is wrong, or a proxy or login page is in front of the API`,
    };
  if (saysNoPath(status, said, ""))
    return {
      verdict: "wrong address",
      noPath: true,
      fault: `has no such path (status ${status}): its base URL is probably wrong`,
    };
  if (status === 401 || status === 403 || (status === 400 && ABOUT_KEY.test(said))) {
    const { authorizer, credentials, secretNames = [], credentialSource } = place;
    const hasKey = authorizer || Object.keys(credentials).length > 0;
    const listed = secretNames.length > 1 ? `its credentials ${secretNames.join(" and ")}` : "its API key";
    const what = credentialSource === undefined ? listed : `the credentials of ${credentialSource}`;
    const variable = provider.apiKey ?? variableName(provider.name, "API_KEY");
    const fault = hasKey
      ? `refuses ${what} (${[`status ${status}`, errorType].filter(Boolean).join(", ")})`
      : `requires an API key; set ${variable}`;
    return { verdict: "unauthorised", isApi: true, fault };
  }
  return { verdict: "reachable", isApi: true };
}

/** Words with which HTTP/2-only servers refuse an HTTP/1.1 client. */
const SPEAKS_HTTP2 = /\bALPN\b|HTTP\/2/i;

/** Some vendors refuse a wrong key with status 400. */
const ABOUT_KEY =
  /(incorrect|invalid|wrong|not valid).{0,40}api[ _-]?key|api[ _-]?key.{0,40}(incorrect|invalid|wrong|not valid)/i;

/** The operator's remedy for each reason. */
const REMEDIES: Partial<Record<Reason, string>> = {
  dns: "check the host name in its base URL",
  refused: "check that the server is running, and the port of its base URL",
  "connect-timeout": "check the address and the firewalls",
  tls: "check that the server speaks TLS at that port",
  "tls-untrusted": "set NODE_EXTRA_CA_CERTS to a file with the certificate of that authority",
  "tls-expired": "check the clock of this machine and renew the certificate",
  "tls-name": "use the host name of the certificate",
  authorization: "check its credentials and its token endpoint",
  proxy: "check HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY",
  protocol: "check whether its base URL should begin with https://",
  reset: "check whether its base URL should begin with https://",
};

function whyNoAnswer({ reason, detail }: { reason: Reason | "silent"; detail?: string }): string {
  if (reason === "silent") return `did not answer within ${PROBE_TIMEOUT_MS / 1000} s`;
  const remedy = REMEDIES[reason];
  const what = describeReason(reason) + (detail === undefined ? "" : `: ${detail}`);
  return remedy === undefined ? what : `${what}; ${remedy}`;
}

/** Only the origin: paths and queries may contain secrets. */
function originOf(location: string | null): string {
  return location !== null && URL.canParse(location) ? new URL(location).origin : "another path";
}
