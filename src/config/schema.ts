/**
 * The options of weir without its features. The validator, `weir config schema`, `weir config show` and the table in README.md of
 * this folder are generated from them.
 *
 * `default` is the value when no layer sets the option. `x-flag` and `x-env` name the flag and the environment variable
 * that override the file; with `x-adds` they add to its list. `x-path` marks paths, `x-no-path` a word that is none. `writeOnly` marks secrets: weir never prints them and reads them into a {@link Secret}.
 */
import { type Static, type TObject, type TSchema, Type } from "@sinclair/typebox";
import { Options } from "./options.ts";
import { type Section, section } from "./section.ts";
import type { Secret } from "../core/secret.ts";
import { adminKeysOption, adminOption, metricsSection } from "./schema-books.ts";
import { cacheSection } from "./schema-cache.ts";
import { CLOSED, milliseconds, oneOf, secret } from "./schema-kinds.ts";
import {
  corsSection,
  limitsSection,
  listenSection,
  messagesSection,
  pluginsSection,
  responsesSection,
  timeoutsSection,
  tlsSection,
} from "./schema-sections.ts";
import { paidOnceSection } from "./schema-paid-once.ts";
import { pricesSection } from "./schema-prices.ts";
import { captureSection } from "./schema-capture.ts";
import { tapeSection } from "./schema-tape.ts";
import { clusterOption, storeOption } from "./schema-store.ts";
import { alertsSection, tracesSection } from "./schema-telemetry.ts";
import {
  budgetsSection,
  keyBudgetsSection,
  keyOptions,
  type KeyOptions,
  ledgerSection,
  ratesSection,
} from "./schema-access.ts";
import { modelSetsSection, modelsSection } from "./schema-models.ts";
import { circuitBreakerSection, retriesSection } from "./schema-retries.ts";
import { priority, providerOptions, weight } from "./schema-providers.ts";

/** A gateway key as weir stores it: name, digest and what it may do, never the text. */
export interface GatewayKey extends KeyOptions {
  name: string;
  /** SHA-256 of the key, 64 lower-case hexadecimal digits. */
  sha256: string;
}

/** Names of providers: the part before the slash in `provider/model`. */
export const PROVIDER_NAME = /^[a-z][a-z0-9-]*$/;

/** Names of models and routes. */
export const MODEL_NAME = /^[\w.:/@+-]{1,200}$/;

/** Names of models, or patterns over them. */
export const MODEL_PATTERN = /^[\w.:/@+*-]{1,200}$/;

/** Names of aliases, and patterns. claude-code-router's names of models have a comma: `PROVIDER,MODEL`. */
export const ALIAS_NAME = /^[\w.:/@+*,-]{1,200}$/;

const gatewayKey = Type.Union(
  [
    Type.String({ writeOnly: true, description: "`name:key`, or the key alone." }),
    Type.Object(
      {
        name: Type.String({ description: "Name of the key's owner; the log shows it." }),
        key: Type.Optional(Type.String({ writeOnly: true, description: "The key itself." })),
        sha256: Type.Optional(
          Type.String({
            writeOnly: true,
            pattern: "^[0-9a-fA-F]{64}$",
            "x-expects": "64 hexadecimal digits",
            description: "The SHA-256 digest of the key, so that the file contains no secret.",
          }),
        ),
        ...keyOptions,
      },
      CLOSED,
    ),
  ],
  { "x-expects": "a key, or a group of `name` and `key` or `sha256`" },
);

const routeTarget = Type.Union(
  [
    Type.String({ description: "Model name, often `provider/model`." }),
    Type.Object(
      { model: Type.String({ description: "Model name, often `provider/model`." }), weight, priority },
      CLOSED,
    ),
  ],
  { "x-expects": "a model, or a group of `model`, `weight` and `priority`" },
);

const fallbackTarget = Type.Union(
  [
    Type.String({ description: "Model name, often `provider/model`." }),
    Type.Object(
      {
        model: Type.String({ description: "Model name, often `provider/model`." }),
        when: Type.Optional(
          oneOf(["failed", "too-long"], {
            description:
              "`failed` (default): used when all deployments of the model failed; `too-long`: used when the prompt exceeds the model's context window.",
          }),
        ),
      },
      CLOSED,
    ),
  ],
  { "x-expects": "a model, or a group of `model` and `when`" },
);

/** A list of models with at least one entry. */
const MODELS = { minItems: 1, "x-expects": "a list of at least one model" };

/** The options that every build has, in the order of the documents. A file may omit any of them. */
const members = {
  include: Type.Array(Type.String(), {
    default: [],
    examples: [["conf.d/*.yaml"]],
    description:
      "Further config files, whose options join those of this one. A path begins at the file that names it; `*` stands for any part of a name. An option or a name may be set in one file only; lists are joined.",
  }),
  host: Type.String({
    default: "127.0.0.1",
    description: "Address to listen on. An address that other machines can reach requires gateway keys.",
    "x-flag": "--host",
    "x-env": "WEIR_HOST",
  }),
  port: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: 9347,
    description: "Port to listen on; 0 chooses a free port.",
    "x-flag": "--port",
    "x-env": "WEIR_PORT",
  }),
  names: Type.Array(Type.String(), {
    default: [],
    examples: [["llm.example.com"]],
    description:
      "Host names by which clients reach weir, as behind a proxy that keeps the Host header. On loopback or without gateway keys weir refuses other names with 403, so that no web page can reach it by DNS rebinding; it accepts addresses, `localhost`, `*.localhost`, `host.docker.internal` and `host.containers.internal` always. The admin listener accepts the same names.",
    "x-flag": "--names",
    "x-env": "WEIR_NAMES",
  }),
  keys: Type.Unsafe<readonly GatewayKey[]>(
    Type.Array(gatewayKey, {
      default: [],
      description:
        "Gateway keys that clients authenticate with: `{name, key}`, `{name, sha256}`, `name:key` or a bare key. A group may also say what the key may do and spend. The variable adds keys. Empty, and no key in the store: no authentication, loopback address only.",
      examples: [["alice:${WEIR_KEY_OF_ALICE}"]],
      "x-env": "WEIR_API_KEYS",
      "x-adds": true,
    }),
  ),
  budgets: budgetsSection,
  keyBudgets: keyBudgetsSection,
  rates: ratesSection,
  ledger: ledgerSection,
  trustedProxies: Type.Array(Type.String(), {
    default: [],
    examples: [["10.0.0.0/8"]],
    description:
      "Addresses or blocks of reverse proxies. For a request from one of them, the client's address is the last one in `x-forwarded-for` that is no such proxy.",
  }),
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
    description: "Settings of providers, by provider name.",
  }),
  aliases: Type.Record(Type.String(), Type.String(), {
    default: {},
    examples: [{ fast: "openai/gpt-5.4-nano" }],
    propertyNames: { pattern: ALIAS_NAME.source },
    description:
      "Alternative model names or patterns, each with the model it resolves to, for example `fast: groq/llama-3.3-70b-versatile` or `claude-*: vllm/qwen3`.",
  }),
  routes: Type.Record(Type.String(), Type.Array(routeTarget, MODELS), {
    default: {},
    examples: [{ smart: ["openai/gpt-5.4", { model: "mock/chat", priority: 1 }] }],
    propertyNames: { pattern: MODEL_NAME.source },
    description:
      "Model names that are load-balanced over several models by `weight` and `priority`: `smart: [openai/gpt-5.4, {model: groq/…, priority: 1}]`.",
  }),
  routing: Type.Record(Type.String(), oneOf(["weight", "latency", "usage", "cost"], {}), {
    default: {},
    examples: [{ smart: "latency" }],
    description:
      "What decides between targets of one priority, by model name, alias, route or pattern: `weight` (default), `latency`, `usage` or `cost`. The most specific entry applies.",
  }),
  fallbacks: Type.Record(Type.String(), Type.Array(fallbackTarget, MODELS), {
    default: {},
    examples: [{ "gpt-*": ["mock/chat"] }],
    description:
      "Fallback models, tried in order when all deployments of a model failed; by model name, route or pattern: `gpt-*: [anthropic/claude-sonnet-5]`. With `when: too-long` a fallback is used when the prompt exceeds the model's context window.",
  }),
  models: modelsSection,
  modelSets: modelSetsSection,
  retries: retriesSection,
  circuitBreaker: circuitBreakerSection,
  plugins: pluginsSection,
  log: Type.Object(
    {
      format: oneOf(["auto", "json", "pretty"], {
        default: "auto",
        description: "`auto`: readable on a terminal, JSON lines otherwise.",
        "x-flag": "--log-format",
        "x-env": "WEIR_LOG",
      }),
      level: oneOf(["info", "warn", "error", "silent"], {
        default: "info",
        description:
          "`info`: every call; `warn`: failed calls; `error`: internal errors of the gateway; `silent`: nothing.",
        "x-flag": "--log-level",
      }),
    },
    {
      ...CLOSED,
      description: "The log on standard output: one line per call, never with prompts or keys.",
    },
  ),
  limits: limitsSection,
  timeouts: timeoutsSection,
  messages: messagesSection,
  responses: responsesSection,
  capture: captureSection,
  tape: tapeSection,
  cache: cacheSection,
  paidOnce: paidOnceSection,
  admin: adminOption,
  adminKeys: adminKeysOption,
  metrics: metricsSection,
  traces: tracesSection,
  alerts: alertsSection,
  prices: pricesSection,
  state: Type.Optional(
    Type.String({
      description:
        "Folder of weir's databases. A relative path is relative to the config file, or to the working directory with the flag or the variable. `none`: in memory, lost when weir ends. Without it: `STATE_DIRECTORY`, which systemd sets.",
      "x-path": true,
      "x-no-path": "none",
      examples: ["/var/lib/weir"],
      "x-flag": "--state",
      "x-env": "WEIR_STATE",
    }),
  ),
  store: storeOption,
  cluster: clusterOption,
  workers: Type.Integer({
    minimum: 0,
    maximum: 256,
    default: 0,
    description:
      "Number of processes that share the port. 0: one per core on Linux, one on other systems and with a unix socket. Each process has its own limits, circuit breakers and caches.",
    "x-flag": "--workers",
    "x-env": "WEIR_WORKERS",
  }),
  graceMs: milliseconds(
    30_000,
    "How long calls in flight may continue after SIGTERM, in milliseconds. Then weir ends them with an error.",
  ),
  strict: Type.Boolean({
    default: false,
    description:
      "Refuse a request with 400 if a part of it cannot be translated to the provider's format. `false`: report the part in `x-weir-warnings`.",
  }),
};

const CORE = Object.entries(members).map(([name, schema]) => section(name, schema as TSchema));

/** The options of a build without features. */
export const CORE_OPTIONS = new Options(CORE);

/** @param features sections of the features in this build */
export const optionsWith = (features: readonly Section[]): Options =>
  features.length === 0 ? CORE_OPTIONS : new Options(CORE, features);

/** The effective configuration, frozen. Sections of features are read by their keys: {@link Section.of}. */
export type Config = Static<TObject<typeof members>>;

/** Settings of one provider as the file contains them. */
export type ProviderOptions = Static<typeof providerOptions>;
