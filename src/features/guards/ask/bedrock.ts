/** Asks a guardrail of Amazon Bedrock: `ApplyGuardrail`, signed with the keys that weir finds as the tools of AWS do. */
import { awsKeys } from "../../../auth/aws/credentials.ts";
import { regionOfProfile } from "../../../auth/aws/profiles.ts";
import { signV4 } from "../../../auth/sign-v4.ts";
import { isObject, type JsonObject } from "../../../core/json.ts";
import type { Place } from "../../../core/place.ts";
import { transport } from "../../../gateway/lanes/transport.ts";
import { type Answer, AskError, type Asker, type Batch, PASSED } from "./asker.ts";
import { rewritten } from "./forms/form.ts";
import { post } from "./post.ts";
import { reasonOf } from "./words.ts";

const NAME = "Bedrock";

export interface BedrockOptions {
  /** Id or ARN. */
  readonly guardrail: string;
  readonly version: string;
  readonly region?: string;
  readonly profile?: string;
  /** Default: that of the region. */
  readonly endpoint?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

export class Bedrock implements Asker {
  readonly name = NAME;
  readonly prose = true;
  readonly #options: BedrockOptions;
  readonly #place: Place;

  constructor(options: BedrockOptions, env: Environment) {
    this.#options = options;
    this.#place = placeAt(env, { profile: options.profile ?? "" });
  }

  async ask(batch: Batch, signal: AbortSignal): Promise<Answer> {
    const content = batch.texts.map(({ text }) => ({ text: { text } }));
    const body = Buffer.from(
      JSON.stringify({ source: batch.phase === "output" ? "OUTPUT" : "INPUT", content }),
    );
    const region = this.#region();
    const url = new URL(this.#address(region));
    const headers = { "content-type": "application/json" };
    const keys = await awsKeys(this.#place);
    const request = { method: "POST" as const, url, headers, body: [body] };
    const signed = signV4(request, { service: "bedrock", region, keys, now: Date.now() });
    return answerOf(await post({ name: NAME, url: url.href, headers: signed, body }, signal), batch);
  }

  #region(): string {
    const { env, variables } = this.#place;
    const named = this.#options.region ?? env["AWS_REGION"] ?? env["AWS_DEFAULT_REGION"];
    const region = named ?? regionOfProfile({ env, variables });
    if (region === undefined) throw new AskError(`${NAME} needs a region: set region, or AWS_REGION`);
    return region;
  }

  #address(region: string): string {
    const { guardrail, version, endpoint } = this.#options;
    const ending = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
    const host = endpoint ?? `https://bedrock-runtime.${region}.${ending}`;
    const [id, number] = [guardrail, version].map(encodeURIComponent);
    return `${host.replace(/\/+$/, "")}/guardrail/${id}/version/${number}/apply`;
  }
}

function answerOf(answer: unknown, batch: Batch): Answer {
  const { action, outputs, assessments } = isObject(answer) ? answer : {};
  if (action === "NONE") return PASSED;
  if (action !== "GUARDRAIL_INTERVENED") throw new AskError(`the answer of ${NAME} has no action`);
  const reasons = reasonsIn(assessments);
  const isMasked = reasons.length > 0 && reasons.every((reason) => reason.action === "ANONYMIZED");
  // A guardrail that blocks puts one message of its own in the place of all texts.
  if (!isMasked || !Array.isArray(outputs))
    return { verdict: "block", kind: reasonOf(reasons[0]?.name), findings: [] };
  const texts = outputs.map((one) => (isObject(one) ? one["text"] : undefined));
  return { verdict: "pass", findings: rewritten(batch, texts) };
}

interface Reason {
  readonly action: unknown;
  readonly name: unknown;
}

/** What the policies of a guardrail did: members with an `action` other than `NONE`, at any depth. */
function reasonsIn(value: unknown): Reason[] {
  if (Array.isArray(value)) return value.flatMap(reasonsIn);
  if (!isObject(value)) return [];
  const { action, type, name } = value as JsonObject;
  const own = typeof action === "string" && action !== "NONE" ? [{ action, name: type ?? name }] : [];
  return [...own, ...Object.values(value).flatMap(reasonsIn)];
}

/** Where the keys of AWS are looked for. */
function placeAt(env: Environment, variables: Readonly<Record<string, string>>): Place {
  return {
    ...{ name: NAME, variables, env, kept: new Map(), conceal: () => {}, now: () => Date.now() },
    secret: (wanted) => env[wanted]?.trim() || undefined,
    async fetch({ url, method = "GET", headers = {}, body }) {
      const stop = AbortSignal.timeout(TOKEN_MS);
      const pieces = body === undefined ? [] : [Buffer.from(body)];
      const response = await transport({ url, method, headers, body: pieces, stop, pool: "guards" });
      const text = Buffer.from(await response.bytes()).toString();
      return { status: response.status, headers: response.headers, text };
    },
  };
}

/** Longest request for temporary keys. Milliseconds. */
const TOKEN_MS = 5_000;
