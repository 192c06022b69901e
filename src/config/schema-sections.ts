/** Sections of the configuration: plugins, limits, listening, TLS, CORS, timeouts, messages, responses. */
import { Type } from "@sinclair/typebox";
import { CLOSED, milliseconds, oneOf } from "./schema-kinds.ts";

export const pluginsSection = Type.Object(
  {
    dir: Type.String({
      description:
        "Folder of the external plugins. Default: `plugins/` beside the config file, or in the working directory when there is no config file.",
      "x-path": true,
      examples: ["plugins"],
      "x-flag": "--plugins",
      "x-env": "WEIR_PLUGINS",
    }),
    allow: Type.Array(
      Type.String({ pattern: "^[0-9a-f]{64}$", "x-expects": "64 lower-case hexadecimal digits" }),
      {
        default: [],
        description:
          "SHA-256 digests of the plugin files that weir may load (`sha256sum plugins/*`). Empty: every file in the folder.",
      },
    ),
    strict: Type.Optional(
      Type.Boolean({
        description:
          "Refuse to start when a plugin cannot be loaded. `false`: start without it. Default: refuse if it may have `admit`, `intercept`, `request` or `answer` hooks.",
      }),
    ),
    loadMs: milliseconds(
      5_000,
      "Maximum time to import a plugin, in milliseconds. A plugin that takes longer is not loaded.",
    ),
  },
  { ...CLOSED, description: "External plugins." },
);

export const limitsSection = Type.Object(
  {
    bodyBytes: Type.Integer({
      minimum: 1024,
      maximum: 1_073_741_824,
      default: 33_554_432,
      description: "Maximum size of a request body, in bytes. A larger body is answered with 413.",
    }),
    depth: Type.Integer({
      minimum: 8,
      maximum: 1000,
      default: 128,
      description:
        "Maximum nesting depth of arrays and objects in a request body. A deeper body is answered with 400.",
    }),
    bodyMs: milliseconds(
      60_000,
      "Base time to receive a request body, in milliseconds. Extended by 1 s for every `bodyRate` bytes received; then weir answers 408 and closes the connection.",
    ),
    bodyRate: Type.Integer({
      minimum: 1,
      maximum: 1_073_741_824,
      default: 65_536,
      description: "Minimum upload rate, in bytes per second, after `bodyMs`.",
    }),
    calls: Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      default: 0,
      description:
        "Maximum number of calls in flight per process. Further calls are answered with 503. 0: no limit.",
    }),
    callsPerClient: Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      default: 0,
      description:
        "Maximum number of calls in flight per process for one gateway key, or for one client address when there are no keys. Further calls are answered with 429. 0: no limit.",
    }),
  },
  { ...CLOSED, description: "Limits for requests." },
);

/** File modes of a unix socket: the owner may connect, the owner and the group, everyone. */
const MODES = [0o600, 0o660, 0o666];
const DEFAULT_MODE = "0600";

/** YAML reads `0600` as the decimal number 600, so each mode is accepted as number or text, octal or decimal. */
const spellingsOf = (mode: number) => {
  const digits = mode.toString(8);
  return [Number(digits), mode, `0${digits}`, `0o${digits}`, digits];
};

/** The numeric file mode for a mode as the config file writes it. */
export function readMode(written: unknown): number {
  return MODES.find((mode) => spellingsOf(mode).some((spelling) => spelling === written)) ?? MODES[0]!;
}

export const listenSection = Type.Object(
  {
    unix: Type.Optional(
      Type.String({
        description:
          "Path of a unix socket to listen on, instead of host and port. A relative path is relative to the config file. Requires a single process (`workers` 0 or 1).",
        "x-path": true,
        examples: ["weir.sock"],
      }),
    ),
    mode: Type.Unsafe<number>(
      Type.Union(
        MODES.flatMap(spellingsOf).map((spelling) => Type.Literal(spelling)),
        {
          default: DEFAULT_MODE,
          "x-expects": "0600, 0660 or 0666",
          description:
            "File mode of the socket: `0600` only the owner can connect, `0660` the owner and the group, `0666` everyone.",
        },
      ),
    ),
  },
  { ...CLOSED, description: "Listening on a unix socket." },
);

export const tlsSection = Type.Object(
  {
    cert: Type.Optional(
      Type.String({
        description:
          "PEM file of the server certificate, followed by its intermediate certificates. A relative path is relative to the config file. weir reads both files again on reload.",
        "x-path": true,
        examples: ["cert.pem"],
      }),
    ),
    key: Type.Optional(
      Type.String({
        description: "PEM file of the certificate's private key, not encrypted.",
        "x-path": true,
        examples: ["key.pem"],
      }),
    ),
  },
  { ...CLOSED, description: "Listening with TLS." },
);

export const corsSection = Type.Object(
  {
    origins: Type.Array(Type.String(), {
      default: [],
      description:
        "Origins of browser apps that may call the gateway, such as `https://app.example.com`. `*` allows every origin and requires gateway keys. Empty: no origin.",
    }),
  },
  { ...CLOSED, description: "Cross-origin calls from browser apps." },
);

export const timeoutsSection = Type.Object(
  {
    connectMs: milliseconds(
      10_000,
      "Maximum time to connect to the provider, including the TLS handshake, in milliseconds. Then the attempt fails.",
    ),
    firstByteMs: milliseconds(
      600_000,
      "Maximum time from the start of an attempt to the first byte of the provider's answer, in milliseconds. Then the attempt fails. Reasoning models are slow.",
    ),
    streamFirstByteMs: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 86_400_000,
        examples: [30_000],
        description:
          "The same for streams: maximum time to the first event of a stream (stream timeout), in milliseconds. Default: `firstByteMs`.",
      }),
    ),
    gapMs: milliseconds(
      300_000,
      "Maximum time between two chunks from the provider (idle timeout), in milliseconds. Then weir ends the stream with an error.",
    ),
    totalMs: milliseconds(
      3_600_000,
      "Maximum duration of a call with all its attempts, in milliseconds. Then weir ends it with an error.",
    ),
    heartbeatMs: milliseconds(
      8_000,
      "Interval of keep-alive messages (for example SSE comments) that weir sends to a streaming client while the provider is silent, in milliseconds.",
    ),
    holdMs: milliseconds(
      8_000,
      "How long weir delays the response headers of a stream so that an early provider error can still be returned as an HTTP status, in milliseconds.",
    ),
    readMs: milliseconds(
      60_000,
      "Maximum time a streaming client may leave data unread, in milliseconds. Then weir closes the connection.",
    ),
  },
  { ...CLOSED, description: "Timeouts towards providers and clients." },
);

export const messagesSection = Type.Object(
  {
    systemTurns: oneOf(["accept", "reject"], {
      default: "accept",
      description:
        "Whether the messages format accepts `system` messages inside a conversation, which newer clients send; `reject` answers 400. A `system` message at the start of the conversation is always refused.",
    }),
  },
  { ...CLOSED, description: "The messages format." },
);

export const responsesSection = Type.Object(
  {
    store: oneOf(["auto", "on", "off"], {
      default: "auto",
      description:
        "Whether weir stores answers with their prompts, so that a client can continue one by `previous_response_id`. `auto`: when a state folder is named (`state`) or `store` is a PostgreSQL database. `on`: also in the default folder `~/.local/state/weir`. `off`: nothing is written, and answers say `store: false`.",
    }),
    commitMs: milliseconds(
      1_000,
      "How long the end of an answer waits until the answer is stored, in milliseconds. Then the answer is not stored and says `store: false`.",
    ),
    keepDays: Type.Integer({
      minimum: 1,
      maximum: 3650,
      default: 30,
      description: "How long weir keeps an answer, in days.",
    }),
    answerBytes: Type.Integer({
      minimum: 1024,
      maximum: 268_435_456,
      default: 33_554_432,
      description: "Maximum size of the items of one answer, in bytes. A larger answer is not stored.",
    }),
    answerItems: Type.Integer({
      minimum: 1,
      maximum: 100_000,
      default: 1000,
      description: "Maximum number of input items of one request. The answer to a longer one is not stored.",
    }),
    fileBytes: Type.Integer({
      minimum: 1_048_576,
      maximum: 1_099_511_627_776,
      default: 2_147_483_648,
      description:
        "Maximum size of all stored answers, in bytes. Beyond it weir deletes the answers that expire first. In memory (`state: none`) at most 256 MB; in PostgreSQL there is no maximum.",
    }),
    foreignIds: oneOf(["auto", "refuse", "pass"], {
      default: "auto",
      description:
        "What weir does with an id of the provider that the client's key has not received: of an answer, of an item, or of any `conversation`. `refuse` answers as for an unknown id, `pass` sends it to the provider, where all gateway keys share an account. `auto`: `refuse` with gateway keys (items: with more than one key), `pass` without. Files, vector stores and containers always pass.",
    }),
  },
  { ...CLOSED, description: "The responses format, and the answers that weir stores for it." },
);

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

export const liveModelsOption = Type.Optional(
  Type.Boolean({
    description:
      "Whether weir asks the provider's hosts for their model lists and serves those models by bare name. Default: the plugin's setting; true for a provider that only the config describes and whose `models` has no exact names.",
  }),
);
