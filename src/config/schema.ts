/**
 * Every option there is, described once: the validator, `weir config schema`, `weir config show` and the table in
 * README.md of this folder are all made from this value.
 *
 * `default` fills what nobody said. `x-flag` and `x-env` name the flag and the variable that win over the file.
 * `writeOnly` marks secrets: they are never printed and become a {@link Secret} when they are read.
 */
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import type { Secret } from "../core/secret.ts";
import { CLOSED, milliseconds, oneOf, secret } from "./schema-kinds.ts";
import {
  corsSection,
  limitsSection,
  listenSection,
  messagesSection,
  pluginsSection,
  timeoutsSection,
  tlsSection,
} from "./schema-sections.ts";
import { priority, providerOptions, weight } from "./schema-providers.ts";

/** A gateway key as it is kept: by name and digest, never as text. */
export interface GatewayKey {
  name: string;
  /** SHA-256 of the key, 64 lower-case hexadecimal digits. */
  sha256: string;
}

/** Names of providers: what stands before the slash in `provider/model`. */
export const PROVIDER_NAME = /^[a-z][a-z0-9-]*$/;

/** Names of models and routes. */
export const MODEL_NAME = /^[\w.:/@+-]{1,200}$/;

/** Names of models, or patterns over them. */
export const MODEL_PATTERN = /^[\w.:/@+*-]{1,200}$/;

const gatewayKey = Type.Union(
  [
    Type.String({ writeOnly: true, description: "`name:key`, or the key alone." }),
    Type.Object(
      {
        name: Type.String({ description: "Who uses it; appears in the log." }),
        key: Type.Optional(Type.String({ writeOnly: true, description: "The key itself." })),
        sha256: Type.Optional(
          Type.String({
            writeOnly: true,
            pattern: "^[0-9a-fA-F]{64}$",
            "x-expects": "64 hexadecimal digits",
            description: "The SHA-256 digest of the key, so that the file holds no secret.",
          }),
        ),
      },
      CLOSED,
    ),
  ],
  { "x-expects": "a key, or a group of `name` and `key` or `sha256`" },
);

const routeTarget = Type.Union(
  [
    Type.String({ description: "The model, often `provider/model`." }),
    Type.Object(
      { model: Type.String({ description: "The model, often `provider/model`." }), weight, priority },
      CLOSED,
    ),
  ],
  { "x-expects": "a model, or a group of `model`, `weight` and `priority`" },
);

const standIn = Type.Union(
  [
    Type.String({ description: "The model, often `provider/model`." }),
    Type.Object(
      {
        model: Type.String({ description: "The model, often `provider/model`." }),
        when: Type.Optional(
          oneOf(["failed", "too-long"], {
            description:
              "`failed`: when all else has failed (the default); `too-long`: when the prompt does not fit into the model.",
          }),
        ),
      },
      CLOSED,
    ),
  ],
  { "x-expects": "a model, or a group of `model` and `when`" },
);

/** A list of models; an empty one would mean nothing. */
const MODELS = { minItems: 1, "x-expects": "a list of at least one model" };

/** The effective configuration, every default filled in. A file may leave out any option. */
export const configSchema = Type.Object(
  {
    host: Type.String({
      default: "127.0.0.1",
      description: "Address to listen on. An address others can reach needs gateway keys.",
      "x-flag": "--host",
      "x-env": "WEIR_HOST",
    }),
    port: Type.Integer({
      minimum: 0,
      maximum: 65_535,
      default: 9347,
      description: "Port to listen on; 0 takes a free one.",
      "x-flag": "--port",
      "x-env": "WEIR_PORT",
    }),
    keys: Type.Unsafe<readonly GatewayKey[]>(
      Type.Array(gatewayKey, {
        default: [],
        description:
          "Keys clients have to show: `{name, key}`, `{name, sha256}`, `name:key` or a bare key. None: loopback only.",
        examples: [["alice:${WEIR_KEY_OF_ALICE}"]],
        "x-env": "WEIR_API_KEYS",
      }),
    ),
    listen: listenSection,
    tls: tlsSection,
    cors: corsSection,
    providers: Type.Record(Type.String(), providerOptions, {
      default: {},
      examples: [
        {
          openai: { apiKey: "${OPENAI_API_KEY}" },
          ollama: { baseUrl: "http://127.0.0.1:11434/v1", timeouts: { firstByteMs: 900_000 } },
        },
      ],
      propertyNames: { pattern: PROVIDER_NAME.source },
      description: "Settings of single providers, by the provider's name.",
    }),
    aliases: Type.Record(Type.String(), Type.String(), {
      default: {},
      examples: [{ fast: "openai/gpt-5.4-nano" }],
      propertyNames: { pattern: MODEL_PATTERN.source },
      description:
        "Model names of your own, or patterns: name to target, for example `fast: groq/llama-3.3-70b-versatile` or `claude-*: vllm/qwen3`.",
    }),
    routes: Type.Record(Type.String(), Type.Array(routeTarget, MODELS), {
      default: {},
      examples: [{ smart: ["openai/gpt-5.4", { model: "mock/chat", priority: 1 }] }],
      propertyNames: { pattern: MODEL_NAME.source },
      description:
        "Model names that stand for several models as equals, with `weight` and `priority`: `smart: [openai/gpt-5.4, {model: groq/…, priority: 1}]`.",
    }),
    fallbacks: Type.Record(Type.String(), Type.Array(standIn, MODELS), {
      default: {},
      examples: [{ "gpt-*": ["mock/chat"] }],
      description:
        "Models that stand in, in order, when all deployments of a model failed; by model name, route or pattern: `gpt-*: [anthropic/claude-sonnet-5]`. With `when: too-long` one stands in for a prompt that does not fit.",
    }),
    retries: Type.Object(
      {
        attempts: Type.Integer({
          minimum: 1,
          maximum: 10,
          default: 3,
          description: "Most attempts to have one call answered; 1 never repeats.",
        }),
        maybeSent: Type.Boolean({
          default: true,
          description:
            "Whether a call is repeated, once, that the provider may have read and may charge for: its connection broke, or its time was up, before an answer.",
        }),
      },
      { ...CLOSED, description: "When a call is tried again." },
    ),
    plugins: pluginsSection,
    log: Type.Object(
      {
        format: oneOf(["auto", "json", "pretty"], {
          default: "auto",
          description: "`auto`: readable on a terminal, JSON lines elsewhere.",
          "x-flag": "--log-format",
          "x-env": "WEIR_LOG",
        }),
        level: oneOf(["info", "warn", "error", "silent"], {
          default: "info",
          description:
            "`info`: every call; `warn`: calls that failed; `error`: faults of the gateway; `silent`: nothing.",
          "x-flag": "--log-level",
        }),
      },
      { ...CLOSED, description: "The log on standard output: a line a call, never prompts, never keys." },
    ),
    limits: limitsSection,
    timeouts: timeoutsSection,
    messages: messagesSection,
    workers: Type.Integer({
      minimum: 0,
      maximum: 256,
      default: 0,
      description:
        "Processes that share the port; 0 for one a core on Linux, and one elsewhere and behind a unix socket. Each keeps its own limits, health and memory.",
      "x-flag": "--workers",
      "x-env": "WEIR_WORKERS",
    }),
    graceMs: milliseconds(
      30_000,
      "How long running answers may take to finish after SIGTERM, in milliseconds. What is left then gets an error.",
    ),
    strict: Type.Boolean({
      default: false,
      description:
        "Refuse a request, with 400, when something of it cannot be carried over to the upstream's format.",
    }),
  },
  {
    ...CLOSED,
    $id: "weir-config",
    title: "weir.yaml",
    description: "Configuration of the weir gateway.",
  },
);

/** Everything the gateway was told, frozen. */
export type Config = Static<typeof configSchema>;

/** Settings of one provider as the file gives them. */
export type ProviderOptions = Static<typeof providerOptions>;

/** One option: its path (`log.format`) and the schema of its value. */
export interface Option {
  path: readonly string[];
  schema: TSchema;
}

/** Whether a schema is a section: a fixed group of options, and not a value of its own. */
export function isSection(schema: TSchema): boolean {
  return schema["type"] === "object" && schema["properties"] !== undefined;
}

/** All options in the order of the schema. Sections are walked; maps and lists are one option each. */
export function listOptions(schema: TSchema = configSchema, path: readonly string[] = []): Option[] {
  if (!isSection(schema)) return [{ path, schema }];
  const members: Record<string, TSchema> = schema["properties"];
  return Object.entries(members).flatMap(([name, member]) => listOptions(member, [...path, name]));
}

/** The schema of a config file: as {@link configSchema}, with every option optional. Pure JSON. */
export function fileSchema(): TSchema {
  return { $schema: "https://json-schema.org/draft/2020-12/schema", ...relax(configSchema) };
}

function relax<Schema extends TSchema>(schema: Schema): Schema {
  if (!isSection(schema)) return schema;
  const members: Record<string, TSchema> = schema["properties"];
  const properties = Object.fromEntries(
    Object.entries(members).map(([name, member]) => [name, relax(member)]),
  );
  const { required: _, ...rest } = schema;
  return { ...rest, properties } as unknown as Schema;
}
