/**
 * Where the gateway must not do as a direct call does, and what it must do instead. Everything that is not named here
 * has to be the same as direct.
 */
import { answerBytes, type Recording } from "../helpers/recordings.ts";

export type Api = "chat" | "messages";

export type Expectation =
  /** Status, bytes and what the SDK makes of them are those of a direct call. */
  | { kind: "same" }
  /** Another status, in the client's own envelope. `code` as the chat-completions dialect says it. */
  | { kind: "policy"; reason: string; status: number; code?: string }
  /** The request is invalid: 400, and weir does not call the upstream. */
  | { kind: "refused"; reason: string };

/** What weir has to do with a recording that is replayed through the native lane. */
export function expectationOf(recording: Recording, body: Record<string, unknown>): Expectation {
  const breach = breachOf(recording.api as Api, body);
  if (breach) return { kind: "refused", reason: breach };
  const { status } = recording.response;
  if (status === 401 || status === 402 || status === 403)
    return {
      kind: "policy",
      reason: `${status} for a credential of the gateway is 502`,
      status: 502,
      code: "upstream_auth",
    };
  if (status >= 400 && !isJson(recording.response.body))
    return { kind: "policy", reason: "an error body that is not JSON is 502", status: 502 };
  if (status === 200 && recording.framing === "json" && hasError(recording.response.body))
    return FILTERED.test(recording.response.body ?? "")
      ? {
          kind: "policy",
          reason: "a filtered prompt answered with 200 is a fault of the prompt",
          status: 400,
        }
      : { kind: "policy", reason: "an error answered with 200 is an error", status: 502 };
  return { kind: "same" };
}

const FILTERED = /"code":\s*"content_filter"/;

/** The documented limit that a request breaks, if any; written apart from weir's own schema. */
function breachOf(api: Api, body: Record<string, unknown>): string | undefined {
  const { temperature, max_tokens: maxTokens } = body;
  const isNumber = typeof temperature === "number";
  if (temperature !== undefined && temperature !== null) {
    if (!isNumber || temperature < 0 || temperature > 2) return "temperature is a number from 0 to 2";
  }
  const isCount = typeof maxTokens === "number" && Number.isInteger(maxTokens) && maxTokens > 0;
  if (maxTokens !== undefined && maxTokens !== null && !isCount) return "max_tokens is a positive integer";
  if (api === "messages" && (maxTokens === undefined || maxTokens === null)) return "max_tokens is required";
  return undefined;
}

/** Members the patch of a shipped provider may change in a native request. */
const PATCHED: Record<string, readonly string[]> = {
  deepseek: ["thinking", "reasoning_effort"],
  groq: ["reasoning_effort"],
  lmstudio: ["response_format", "tool_choice", "tools"],
  mistral: ["user", "safety_identifier", "seed", "random_seed", "reasoning_effort"],
  xai: ["reasoning_effort"],
};

/** Members a vendor's host answers with an error. */
const REFUSED: Record<string, readonly string[]> = { mistral: ["user", "safety_identifier", "seed"] };

/** What the host of a shipped provider refuses in a chat body, for whatever client it was written. */
export function vendorFaults(provider: string, body: Record<string, unknown>): string[] {
  const names = (REFUSED[provider] ?? []).filter((name) => body[name] !== undefined);
  return names.map((name) => `${provider} refuses the member ${name}`);
}

/** Whether `got` may reach the upstream for `wanted`: the same bytes, but for the members that the provider's patch is about. */
export function mayArrive({ api, vendor }: Recording, wanted: string, got: string): boolean {
  if (wanted === got) return true;
  const patched = api === "chat" ? PATCHED[vendor] : undefined;
  if (!patched) return false;
  const [left, right] = [JSON.parse(wanted), JSON.parse(got)] as [
    Record<string, unknown>,
    Record<string, unknown>,
  ];
  for (const body of [left, right]) for (const name of patched) delete body[name];
  return JSON.stringify(left) === JSON.stringify(right);
}

function isJson(text: string | undefined): boolean {
  try {
    return typeof JSON.parse(text ?? "") === "object";
  } catch {
    return false;
  }
}

function hasError(text: string | undefined): boolean {
  const body = JSON.parse(text ?? "{}") as { error?: unknown };
  return body.error !== undefined && body.error !== null;
}

/** Models of OpenAI's that refuse `max_tokens`. */
const REFUSE_MAX_TOKENS = /(^|\/)(o\d|gpt-5)/;

/** A native body at an address that is not its vendor's: the output limit has the name that compatible hosts know. */
export function withKnownLimit(api: Api, body: Record<string, unknown>, text: string): string {
  const limit = body["max_completion_tokens"];
  if (api !== "chat" || limit === undefined || body["max_tokens"] !== undefined) return text;
  if (REFUSE_MAX_TOKENS.test(String(body["model"]))) return text;
  const left = text.replace(
    /"max_completion_tokens":\s*[\w.]+\s*,|,\s*"max_completion_tokens":\s*[\w.]+(?=\s*\})/,
    "",
  );
  return left.replace("{", `{"max_tokens":${JSON.stringify(limit)},`);
}

/**
 * What of every native body the upstream gets otherwise than the client wrote it, besides the model name: a chat stream
 * is asked for its token counts. Everything else has to be the client's, byte for byte.
 */
export function nativeText(api: Api, body: Record<string, unknown>, text: string): string {
  if (!isAskedFor(api, body)) return text;
  const options = body["stream_options"] as Record<string, unknown> | null | undefined;
  const asking = JSON.stringify({ ...options, include_usage: true });
  if (options === undefined) return text.replace("{", `{"stream_options":${asking},`);
  return text.replace(/("stream_options":\s*)(null|\{[^}]*\})/, `$1${asking}`);
}

/** Whether weir asks for the token counts in the client's place. */
export function isAskedFor(api: Api, body: Record<string, unknown>): boolean {
  const options = body["stream_options"] as Record<string, unknown> | null | undefined;
  return api === "chat" && body["stream"] === true && options?.["include_usage"] !== true;
}

/** The recording as a native client sees it: without the chunk of counts that only weir asked for. */
export function shownTo(recording: Recording, body: Record<string, unknown>): Recording {
  if (!isAskedFor(recording.api as Api, body) || recording.response.status !== 200) return recording;
  const text = answerBytes(recording).toString("latin1");
  const shown = text.replace(/data: ?(\{.*\})\r?\n\r?\n/g, (event, data: string) =>
    isCounts(JSON.parse(data) as Record<string, unknown>) ? "" : event,
  );
  const response = { ...recording.response, body_base64: Buffer.from(shown, "latin1").toString("base64") };
  return { ...recording, response };
}

function isCounts({ choices, usage }: Record<string, unknown>): boolean {
  return Array.isArray(choices) && choices.length === 0 && typeof usage === "object" && usage !== null;
}
