/** The providers of the job: fakes of each vendor's door, and how weir is configured for each. */
import { isObject, type JsonObject, parseJson } from "../../../src/core/json.ts";
import { inFrontOf, startBedrock } from "../../helpers/bedrock.ts";
import { UPSTREAM_KEYS } from "../../helpers/gateway.ts";
import { type Answer, json, startUpstream, type Upstream } from "../../helpers/upstream.ts";
import type { JobProvider } from "./provider.ts";

/** The name that clients of OpenAI's formats ask for; some choose their tools by it. */
export const MODEL = "gpt-5.5";

export interface JobTarget {
  /** As the table prints it. */
  name: string;
  /** Format of the provider. */
  format: string;
  config: JsonObject;
  env?: Record<string, string>;
  /** What the model's name stands for. */
  alias: string;
  upstream: Upstream;
  /** Lets the fake play this provider. */
  play(provider: JobProvider): void;
  /** What the fake refused besides. */
  faults(): string[];
  stop(): void;
}

const AWS = { id: "AKIAJOB", secret: "secret-of-the-job", region: "us-east-1" };
const AWS_ENV = { AWS_ACCESS_KEY_ID: AWS.id, AWS_SECRET_ACCESS_KEY: AWS.secret, AWS_REGION: AWS.region };
const SECRETS = { [AWS.id]: AWS.secret };
const TOKEN = "ya29.of-the-job";

export const TARGETS: readonly (() => JobTarget)[] = [
  () =>
    plain("responses", "responses", `openai/${MODEL}`, (url) => ({
      openai: { baseUrl: `${url}/v1`, apiKey: UPSTREAM_KEYS.openai, speaks: "responses" },
    })),
  () =>
    plain("chat-completions", "chat-completions", `host/${MODEL}`, (url) => ({
      host: { baseUrl: `${url}/v1`, speaks: "chat-completions", models: [MODEL] },
    })),
  () =>
    plain("messages", "messages", "anthropic/claude-opus-4-8", (url) => ({
      anthropic: { baseUrl: url, apiKey: UPSTREAM_KEYS.anthropic },
    })),
  () =>
    plain("gemini", "gemini", "gemini/gemini-3-pro-preview", (url) => ({
      gemini: { baseUrl: url, apiKey: "key-of-the-job" },
    })),
  vertexClaude,
  bedrockClaude,
  bedrockConverse,
];

/** A fake that answers whatever the path. */
function plain(
  name: string,
  format: string,
  alias: string,
  providers: (url: string) => JsonObject,
  refuses: (authorization: string | null) => Answer | undefined = () => undefined,
): JobTarget {
  const upstream = startUpstream(json({}));
  const faults: string[] = [];
  return {
    ...{ name, format, alias, upstream, faults: () => faults, stop: () => upstream.stop() },
    config: { providers: providers(upstream.url) },
    play(provider) {
      upstream.answer(({ path, body, headers }) => {
        const refusal = refuses(headers.get("authorization"));
        if (refusal) faults.push("the credential is wrong");
        const parsed = parseJson(body.toString("utf8"));
        return refusal ?? (isObject(parsed) ? provider.answer(parsed, path) : json({}, 404));
      });
    },
  };
}

function vertexClaude(): JobTarget {
  const target = plain(
    "vertex (Claude)",
    "messages",
    "vertex/claude-opus-4-8",
    (url) => ({ vertex: { baseUrl: url } }),
    (given) => (given === `Bearer ${TOKEN}` ? undefined : json({ error: { message: "no token" } }, 401)),
  );
  const env = { VERTEX_ACCESS_TOKEN: TOKEN, GOOGLE_CLOUD_PROJECT: "job", GOOGLE_CLOUD_LOCATION: "global" };
  return { ...target, env };
}

/** Claude over InvokeModel: a fake of Bedrock, which checks signatures, in front of a fake of Anthropic. */
function bedrockClaude(): JobTarget {
  const claude = plain(
    "bedrock (Claude, InvokeModel)",
    "messages",
    "bedrock/us.anthropic.claude-opus-4-8",
    () => ({}),
  );
  const bedrock = startBedrock({ secrets: SECRETS });
  bedrock.handle(inFrontOf(claude.upstream.url));
  return {
    ...claude,
    config: { providers: { bedrock: { baseUrl: bedrock.url } } },
    env: AWS_ENV,
    faults: () => bedrock.faults,
    stop() {
      bedrock.stop();
      claude.stop();
    },
  };
}

/** A plugin that serves Claude at Bedrock over Converse alone. */
function bedrockConverse(): JobTarget {
  const bedrock = startBedrock({ secrets: SECRETS });
  return {
    ...{ name: "bedrock (Converse)", format: "converse", alias: "bedrock/us.anthropic.claude-opus-4-8" },
    config: { providers: { bedrock: { baseUrl: bedrock.url, speaks: "converse" } } },
    env: AWS_ENV,
    upstream: bedrock,
    play: (provider) => bedrock.handle(({ body, request }) => provider.answer(body, request.path)),
    faults: () => bedrock.faults,
    stop: () => bedrock.stop(),
  };
}
