/** Gemini, Claude and other models in a project of Google Cloud. */
import {
  chatCompletions,
  definePlugin,
  isObject,
  type JsonObject,
  type ModelDoes,
  type TokenCounting,
} from "weir";
import { dropCacheScopes, dropTags } from "./shared/claude-betas.ts";
import { HIDDEN, HIDDEN_RESOLD } from "./shared/hidden-reasoning.ts";
import { versionMember } from "./shared/claude-version.ts";
import { VERTEX_ACCESS } from "./shared/vertex-access.ts";

/** Google's SDK uses this version: some fields exist only here. */
const PUBLISHERS = "/v1beta1/projects/{project}/locations/{location}/publishers";
const CLAUDE = "/v1/projects/{project}/locations/{location}/publishers/anthropic/models";
const GEMINI = ["gemini-3.5-flash", "gemini-3.1-pro-preview", "gemini-2.5-pro", "gemini-2.5-flash"];

/** Vertex takes back only ids of calls that it gave, and fetches media itself. It has tiers under other names. */
const traits = {
  files: true,
  topK: true,
  callIds: "echo",
  fileUrls: true,
  textBesideMedia: true,
  serviceTiers: false,
} as const;

/** Vertex refuses other members, such as `safetySettings`, and knows no request inside of the body. */
const COUNTED = ["contents", "systemInstruction", "tools", "generationConfig"] as const;

const COUNTING: TokenCounting = {
  path: `${PUBLISHERS}/google/models/{model}:countTokens`,
  request(body) {
    const whole = isObject(body.generateContentRequest) ? body.generateContentRequest : body;
    const members = COUNTED.flatMap((name) => (whole[name] === undefined ? [] : [[name, whole[name]]]));
    return Object.fromEntries(members) as JsonObject;
  },
  read: ({ totalTokens }) => (typeof totalTokens === "number" ? totalTokens : undefined),
};

/** The facts name only what else they give: the format carries it beside text. */
const modelDoes: readonly ModelDoes[] = [
  { models: ["gemini-*-image*"], does: ["chat", "image"] },
  { models: ["gemini-*-tts*"], does: ["chat"] },
  { models: ["imagen-*"], does: ["image"] },
];

/** @param models folder of Google's models */
const imagesAt = (models: string) => ({
  "gemini-images": { path: `${models}/{model}:generateContent`, models: ["gemini-*-image*"] },
  imagen: { path: `${models}/{model}:predict`, models: ["imagen-*"] },
});

export default definePlugin({
  name: "vertex",
  providers: [
    {
      name: "vertex",
      models: ["vertex/*"],
      ...VERTEX_ACCESS,
      speaks: {
        gemini: {
          json: `${PUBLISHERS}/google/models/{model}:generateContent`,
          stream: `${PUBLISHERS}/google/models/{model}:streamGenerateContent?alt=sse`,
          models: ["!claude-*"],
        },
        messages: {
          json: `${CLAUDE}/{model}:rawPredict`,
          stream: `${CLAUDE}/{model}:streamRawPredict`,
          models: ["claude-*"],
          // Anthropic separates the date by a dash, Google by an @.
          modelFor: (model) => model.replace(/-(?=\d{8}$)/, "@"),
        },
      },
      does: { image: imagesAt(`${PUBLISHERS}/google/models`) },
      embeds: {
        "vertex-predict": {
          path: `${PUBLISHERS}/google/models/{model}:predict`,
          models: ["*embedding*"],
          // It embeds one text at a time.
          maxInputs: { "gemini-embedding-*": 1, "*": 250 },
        },
      },
      envelope: {
        messages: {
          without: ["model"],
          withoutHeaders: ["anthropic-version"],
          defaults: (call) => versionMember(call, "vertex-2023-10-16"),
        },
      },
      patch(body, call) {
        if (call.target?.format !== "messages") return;
        dropCacheScopes(body, call);
        dropTags(body, call);
      },
      counting: {
        gemini: COUNTING,
        messages: {
          path: `${CLAUDE}/count-tokens:rawPredict`,
          request: (body, model) => ({ model, ...body }),
          read: ({ input_tokens }) => (typeof input_tokens === "number" ? input_tokens : undefined),
        },
      },
      traits,
      modelTraits: HIDDEN.google,
      modelDoes,
      catalog: ["claude-opus-4-8", "claude-sonnet-5", "claude-haiku-4-5", ...GEMINI, "gemini-embedding-001"],
    },
    {
      // Vertex with an API key instead of a project.
      name: "vertex-express",
      models: ["vertex-express/*"],
      baseUrl: "https://aiplatform.googleapis.com",
      apiKey: "VERTEX_API_KEY",
      auth: (apiKey) => ({ "x-goog-api-key": apiKey }),
      speaks: {
        gemini: {
          json: "/v1beta1/publishers/google/models/{model}:generateContent",
          stream: "/v1beta1/publishers/google/models/{model}:streamGenerateContent?alt=sse",
        },
      },
      traits,
      modelTraits: HIDDEN.google,
      modelDoes,
      catalog: GEMINI,
    },
    chatCompletions({
      // Models of other publishers, and Gemini in the words of OpenAI.
      name: "vertex-openai",
      models: ["vertex-openai/*"],
      ...VERTEX_ACCESS,
      speaks: {
        "chat-completions": "/v1/projects/{project}/locations/{location}/endpoints/openapi/chat/completions",
      },
      modelTraits: HIDDEN_RESOLD,
    }),
  ],
});
