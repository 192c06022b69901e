import { awsVariables, definePlugin, eventStream } from "weir";
import { bedrockAccess } from "./shared/bedrock-access.ts";
import { dropTags, moveBetas } from "./shared/claude-betas.ts";
import { versionMember } from "./shared/claude-version.ts";

/** Beta features that Bedrock accepts for Claude; it refuses a request with another one. */
const BETAS = [
  "computer-use-2025-01-24",
  "token-efficient-tools-2025-02-19",
  "interleaved-thinking-2025-05-14",
  "output-128k-2025-02-19",
  "dev-full-thinking-2025-05-14",
  "context-1m-2025-08-07",
  "context-management-2025-06-27",
  "effort-2025-11-24",
  "tool-search-tool-2025-10-19",
  "tool-examples-2025-10-29",
];

/** Models whose schemas Bedrock refuses in `output_config` and in strict tools, which Anthropic accepts. */
const WITHOUT_SCHEMAS = [
  "*claude-opus-4-7*",
  "*claude-opus-4-8*",
  "*claude-opus-5*",
  "*claude-sonnet-5*",
  "*claude-haiku-5*",
  "*claude-fable-*",
  "*claude-mythos-*",
];

/** The id of the foundation model: Bedrock counts for no inference profile (`us.anthropic.…`). */
function foundationModel(model: string): string {
  return model.replace(/^arn:.*\//, "").replace(/^[a-z-]+\.(?=anthropic\.)/, "");
}

/** An ARN is valid in its own region only. */
function arnFault(model: string, { region }: Readonly<Record<string, string>>): string | undefined {
  const named = /^arn:[^:]*:[^:]*:([^:]+):/.exec(model)?.[1];
  return named === undefined || named === region
    ? undefined
    : `is an ARN of the region ${named}, and the region of the provider is ${region}`;
}

export default definePlugin({
  name: "bedrock",
  providers: [
    {
      ...bedrockAccess("bedrock", "BEDROCK_API_KEY"),
      name: "bedrock",
      models: ["bedrock/*"],
      variables: {
        ...awsVariables,
        betas: { default: BETAS.join(","), describe: "the beta features that Bedrock accepts for Claude" },
      },
      baseUrl: "https://bedrock-runtime.{region}.amazonaws.com",
      modelFault: arnFault,
      // Claude's own format carries thinking, cache marks and PDFs unchanged, so it comes before Converse, also for other clients.
      speaks: {
        messages: {
          json: "/model/{model}/invoke",
          stream: "/model/{model}/invoke-with-response-stream",
          models: ["*anthropic.claude*"],
        },
        converse: { json: "/model/{model}/converse", stream: "/model/{model}/converse-stream" },
      },
      embeds: {
        "titan-embed": { path: "/model/{model}/invoke", models: ["*amazon.titan-embed*"] },
        "cohere-invoke": { path: "/model/{model}/invoke", models: ["*cohere.embed*"] },
        "nova-embed": { path: "/model/{model}/invoke", models: ["*amazon.nova-*embed*"] },
      },
      framing: { messages: eventStream({ unwrap: "bytes" }), converse: eventStream() },
      envelope: {
        messages: {
          without: ["model", "stream"],
          withoutHeaders: ["anthropic-version", "anthropic-beta", "x-app"],
          defaults: (call) => versionMember(call, "bedrock-2023-05-31"),
          leavesOut: ["features"],
        },
      },
      patch(body, call) {
        if (call.target?.format !== "messages") return;
        moveBetas(body, call, call.target.variables.betas ?? "");
        dropTags(body, call);
      },
      counting: {
        messages: {
          path: "/model/{model}/count-tokens",
          modelFor: foundationModel,
          request: (body) => {
            const text = JSON.stringify({ max_tokens: 1, ...body });
            return { input: { invokeModel: { body: Buffer.from(text).toString("base64") } } };
          },
          read: ({ inputTokens }) => (typeof inputTokens === "number" ? inputTokens : undefined),
        },
      },
      traits: { files: true, imageInToolMessage: true, topK: true },
      modelTraits: [{ models: WITHOUT_SCHEMAS, traits: { strictTools: false } }],
      catalog: [
        "global.anthropic.claude-sonnet-5-5",
        "us.anthropic.claude-opus-4-8",
        "us.anthropic.claude-sonnet-4-6",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "us.anthropic.claude-haiku-4-5-20251001-v1:0",
        "us.amazon.nova-pro-v1:0",
        "us.amazon.nova-lite-v1:0",
        "openai.gpt-oss-120b-1:0",
        "us.meta.llama3-3-70b-instruct-v1:0",
        "amazon.titan-embed-text-v2:0",
        "us.cohere.embed-v4:0",
      ],
    },
  ],
});
