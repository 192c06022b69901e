/** Sections of the configuration that stand for themselves: plugins, limits, listening, TLS, CORS, timeouts, messages. */
import { Type } from "@sinclair/typebox";
import { CLOSED, milliseconds, oneOf } from "./schema-kinds.ts";

export const pluginsSection = Type.Object(
  {
    dir: Type.String({
      description:
        "Folder of dropped plugins. Default: `plugins/` beside the config file, without one in the working directory.",
      examples: ["plugins"],
      "x-flag": "--plugins",
      "x-env": "WEIR_PLUGINS",
    }),
    allow: Type.Array(
      Type.String({ pattern: "^[0-9a-f]{64}$", "x-expects": "64 lower-case hexadecimal digits" }),
      {
        default: [],
        description:
          "SHA-256 digests of the files that may be loaded (`sha256sum plugins/*`). Empty: every file in the folder.",
      },
    ),
    strict: Type.Boolean({
      default: false,
      description: "Refuse to start when a plugin cannot be loaded, instead of leaving it out.",
    }),
    loadMs: milliseconds(5_000, "Longest time a plugin's top level may take, in milliseconds."),
  },
  { ...CLOSED, description: "Dropped plugins." },
);

export const limitsSection = Type.Object(
  {
    bodyBytes: Type.Integer({
      minimum: 1024,
      maximum: 1_073_741_824,
      default: 33_554_432,
      description: "Largest request body, in bytes.",
    }),
    depth: Type.Integer({
      minimum: 8,
      maximum: 1000,
      default: 128,
      description: "Deepest nesting of arrays and objects in a request body.",
    }),
    bodyMs: milliseconds(
      60_000,
      "Longest wait for a whole request body, in milliseconds; what has come of it earns more, see `bodyRate`.",
    ),
    bodyRate: Type.Integer({
      minimum: 1,
      maximum: 1_073_741_824,
      default: 65_536,
      description: "Bytes of a request body that earn its client another second.",
    }),
    calls: Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      default: 0,
      description: "Calls in flight at once, in one process; one more is a 503. 0: any number.",
    }),
    callsPerClient: Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      default: 0,
      description:
        "The same for one gateway key, or for one address where there are no keys; one more is a 429. 0: any number.",
    }),
  },
  { ...CLOSED, description: "What a request may cost." },
);

/** Who may connect to a unix socket: its user, its group too, everyone. */
const MODES = [0o600, 0o660, 0o666];
const DEFAULT_MODE = "0600";

/** `0600`, which YAML reads as six hundred, `0o600`, and either as a text. */
const spellingsOf = (mode: number) => {
  const digits = mode.toString(8);
  return [Number(digits), mode, `0${digits}`, `0o${digits}`, digits];
};

/** A mode as it is written, as a number. */
export function readMode(written: unknown): number {
  return MODES.find((mode) => spellingsOf(mode).some((spelling) => spelling === written)) ?? MODES[0]!;
}

export const listenSection = Type.Object(
  {
    unix: Type.Optional(
      Type.String({
        description:
          "Path of a unix socket to listen on, instead of host and port. A relative path begins at the config file. It needs one process.",
        examples: ["weir.sock"],
      }),
    ),
    mode: Type.Unsafe<number>(
      Type.Union(
        MODES.flatMap(spellingsOf).map((spelling) => Type.Literal(spelling)),
        {
          default: DEFAULT_MODE,
          "x-expects": "0600, 0660 or 0666",
          description: "Who may connect to it: `0600` its user, `0660` its group too, `0666` everyone.",
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
          "PEM file of the certificate to listen with, those of its issuers behind it. A relative path begins at the config file. Both files are read again at a reload.",
        examples: ["cert.pem"],
      }),
    ),
    key: Type.Optional(
      Type.String({ description: "PEM file of its private key, not encrypted.", examples: ["key.pem"] }),
    ),
  },
  { ...CLOSED, description: "Listening with TLS." },
);

export const corsSection = Type.Object(
  {
    origins: Type.Array(Type.String(), {
      default: [],
      description:
        "Origins of browser apps that may call the gateway, such as `https://app.example.com`; `*` for any, which needs gateway keys. Empty: none.",
    }),
  },
  { ...CLOSED, description: "Calls from browser apps of other origins." },
);

export const timeoutsSection = Type.Object(
  {
    connectMs: milliseconds(
      10_000,
      "Longest time to connect to an upstream, the TLS handshake included, in milliseconds.",
    ),
    firstByteMs: milliseconds(
      600_000,
      "Longest wait for the first byte of an upstream's answer, connecting included, in milliseconds. Reasoning models are slow.",
    ),
    gapMs: milliseconds(300_000, "Longest silence inside a streamed answer, in milliseconds."),
    totalMs: milliseconds(3_600_000, "Longest duration of a whole call, in milliseconds."),
    heartbeatMs: milliseconds(
      8_000,
      "Silence towards the client of a stream after which a sign of life is sent, in milliseconds.",
    ),
    holdMs: milliseconds(
      8_000,
      "How long the head of a stream waits for its first event, so that an early failure keeps its status, in milliseconds.",
    ),
    readMs: milliseconds(
      60_000,
      "How long a client may leave unread what a stream has sent it, before it is cut off, in milliseconds.",
    ),
  },
  { ...CLOSED, description: "When the gateway stops waiting, for an upstream or for a client." },
);

export const messagesSection = Type.Object(
  {
    systemTurns: oneOf(["accept", "reject"], {
      default: "accept",
      description:
        "`system` messages inside a messages conversation: newer clients send them. At its head they are refused either way.",
    }),
  },
  { ...CLOSED, description: "The messages format." },
);

/** What a provider that the config alone describes speaks, or another provider in the place of what its plugin says. */
export const speaksOption = Type.Optional(
  Type.Union(
    [
      Type.String({ description: "A format: `chat-completions` or `messages`." }),
      Type.Array(Type.String(), { minItems: 1, description: "Formats, the preferred one first." }),
      Type.Record(Type.String(), Type.String(), {
        description: "Formats with their paths behind `baseUrl`, the preferred one first.",
      }),
    ],
    {
      "x-expects": "a format, a list of formats, or a group of formats with their paths",
      description:
        "The formats it speaks. With `baseUrl` it makes a provider that no plugin brings: `acme: {speaks: chat-completions, baseUrl: https://api.acme.example/v1}`.",
    },
  ),
);

export const liveModelsOption = Type.Optional(
  Type.Boolean({
    description:
      "Whether its hosts are asked for their models, which are then served by bare name. Default: as its plugin says; true for a provider that the config alone describes without exact `models`.",
  }),
);
