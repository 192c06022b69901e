/** The formats, paths and lists of models of a provider that the config describes. */
import { Type } from "@sinclair/typebox";
import { CLOSED } from "./kinds.ts";

/** The path of a format. */
const spokenPath = Type.Union(
  [
    Type.String({
      description:
        "Path, which may end in a query. `{model}` stands for the model name, `{name}` for the variable of that name.",
    }),
    Type.Object(
      {
        json: Type.String({ description: "Path of requests." }),
        stream: Type.Optional(Type.String({ description: "Path of requests for streams. Default: `json`." })),
        models: Type.Optional(
          Type.Array(Type.String(), {
            minItems: 1,
            description:
              "Globs over the provider's names of the models that it serves in this format; one that begins with `!` excludes models. Default: all.",
          }),
        ),
      },
      { ...CLOSED, description: "Paths, and the models for which they hold." },
    ),
  ],
  { "x-expects": "a path, or a group of `json`, `stream` and `models`" },
);

/** The formats and paths of a provider that only the config describes, or a replacement for those of its plugin. */
export const speaksOption = Type.Optional(
  Type.Union(
    [
      Type.String({ description: "A format: `chat-completions`, `messages`, `responses` or `converse`." }),
      Type.Array(Type.String(), { minItems: 1, description: "Formats, the preferred one first." }),
      Type.Record(Type.String(), spokenPath, {
        description: "Formats with their paths relative to `baseUrl`, the preferred one first.",
      }),
    ],
    {
      "x-expects": "a format, a list of formats, or a group of formats with their paths",
      description:
        "The formats the provider speaks. Together with `baseUrl` it defines a provider without a plugin: `acme: {speaks: chat-completions, baseUrl: https://api.acme.example/v1}`.",
    },
  ),
);

const embedEndpoint = Type.Union(
  [
    Type.String({ description: "Path, which may contain `{model}` and variables." }),
    Type.Object(
      {
        path: Type.String({ description: "Path, which may contain `{model}` and variables." }),
        models: Type.Optional(
          Type.Array(Type.String(), {
            minItems: 1,
            description: "Globs over the provider's names of the models that it serves here. Default: all.",
          }),
        ),
        maxInputs: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: 1_000_000,
            description:
              "Most inputs of one request; weir splits longer lists. Default: that of the dialect.",
          }),
        ),
        tokenIds: Type.Optional(
          Type.Boolean({
            description: "Whether the host takes token ids in place of texts. Default: as the dialect.",
          }),
        ),
        base64: Type.Optional(
          Type.Boolean({
            default: false,
            description:
              "Whether the host can answer with base64. `false`: weir asks for numbers and converts them for the client.",
          }),
        ),
      },
      { ...CLOSED, description: "A path, and what differs from the dialect." },
    ),
  ],
  { "x-expects": "a path, or a group with a `path`" },
);

export const embedsOption = Type.Optional(
  Type.Record(Type.String(), embedEndpoint, {
    description:
      "Where the provider embeds: dialects with their paths relative to `baseUrl`. Default: those of the plugin; `{embeddings: /embeddings}` for a provider that only the config describes and that speaks `chat-completions`.",
  }),
);

const kindEndpoint = Type.Union(
  [
    Type.String({ description: "Path relative to `baseUrl`; it may contain variables and `{model}`." }),
    Type.Object(
      {
        path: Type.String({ description: "Path relative to `baseUrl`." }),
        models: Type.Optional(
          Type.Array(Type.String(), { description: "Globs over the models there. Default: all." }),
        ),
      },
      { ...CLOSED, description: "A path, and the models that it serves." },
    ),
  ],
  { "x-expects": "a path, or a group with a `path`" },
);

const kindEndpoints = Type.Optional(Type.Record(Type.String(), kindEndpoint));

export const doesOption = Type.Optional(
  Type.Object(
    {
      ...{ completion: kindEndpoints, rerank: kindEndpoints, moderation: kindEndpoints },
      ...{ decision: kindEndpoints, cache: kindEndpoints, image: kindEndpoints },
      ...{ realtime: kindEndpoints, speech: kindEndpoints, transcription: kindEndpoints },
    },
    {
      ...CLOSED,
      description:
        "What the provider does besides generating text and embedding it, by kind: dialects with their paths relative to `baseUrl`, such as `{rerank: {jina-rerank: /rerank}}`. Default: that of the plugin.",
    },
  ),
);

export const liveModelsOption = Type.Optional(
  Type.Boolean({
    description:
      "Whether weir asks the provider's hosts for their model lists and serves those models by bare name. Default: the plugin's setting; true for a provider that only the config describes and whose `models` has no exact names.",
  }),
);
