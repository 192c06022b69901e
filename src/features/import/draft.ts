/** A gateway in words that no source has: connections to hosts, and the names that clients ask for. */
import type { SourceNode } from "./source.ts";

/** An address with a credential. Values are in the notation of `weir.yaml`. */
export interface SourceConnection {
  /** Name of a provider: one of a plugin, or a new one if `speaks` is set. */
  provider: string;
  /** For the name of a deployment. */
  hint: string;
  /** Name of a provider of the source that clients choose by this name: it shares no provider of weir with others. */
  group?: string;
  settings: ConnectionSettings;
}

export interface ConnectionSettings {
  /** Formats of a provider that no plugin defines. */
  speaks?: unknown;
  baseUrl?: string;
  apiKey?: string;
  variables?: Record<string, string>;
  secrets?: Record<string, string>;
  headers?: Record<string, string>;
  timeouts?: Record<string, number>;
  concurrency?: number;
  embeds?: Record<string, string>;
  maxTokensField?: string;
  /** Names of models that a provider of its own serves. */
  models?: string[];
}

/** A model behind a name. */
export interface Use {
  connection: SourceConnection;
  /** The provider's name of the model. */
  model: string;
  /** Share of the calls among uses of the same priority, any positive number. Default 1. */
  weight?: number;
  /** Lower numbers are tried first. Default 0. */
  priority?: number;
}

/** A name that clients ask for. */
export interface ServedName {
  name: string;
  uses: Use[];
  /** Paths in the source. */
  from: string[];
}

/** The request that a source gateway sends: `{model}` in the URL stands for the name of the model. */
export interface SourceRequest {
  /** The format of its body, as weir names it. */
  format: string;
  url: string;
}

/** A request of the source gateway, which weir should send, too. */
export interface Expectation {
  /** The name that clients ask for. */
  name: string;
  connection: SourceConnection;
  /** The provider's name of the model. */
  model: string;
  /** Absent: the source says by `does` alone what it asks of the model. */
  asked?: SourceRequest;
  /** `rerank`: a kind of models, as weir names it. */
  does?: string;
  /** Paths in the source of the leaves that make the request. */
  from: string[];
}

/** The order of options in the written file. */
const ORDER = [
  "host port keys identity budgets rates ledger cors secrets providers aliases routes fallbacks models modelSets retries circuitBreaker timeouts",
  "limits cache prices admin traces log",
]
  .join(" ")
  .split(" ");

/** Options whose entries have names. */
const MAPS = new Set(["aliases", "routes", "fallbacks", "models", "modelSets", "budgets", "rates", "prices"]);

export class Draft {
  readonly connections: SourceConnection[] = [];
  readonly names: ServedName[] = [];
  /** Connections that serve any model that their host has. */
  readonly open = new Set<SourceConnection>();
  /** Globs over the models that a connection serves, where the source limits them. */
  readonly limits = new Map<SourceConnection, string[]>();
  /** Shares and order of connections of one provider, for all models that they serve. */
  readonly shares = new Map<SourceConnection, { weight?: number; priority?: number }>();
  /** Patterns of names that a connection serves, besides those that it serves without a config. */
  readonly patterns: { connection: SourceConnection; pattern: string }[] = [];
  /** Prices of what a connection serves, as `prices` of the config has them. */
  readonly prices: { connection: SourceConnection; model: string; price: unknown }[] = [];
  /** Rate limits of what a connection serves. */
  readonly rates: { connection: SourceConnection; model: string; rate: Record<string, number> }[] = [];
  /** The request of the source gateway. With it, the written file is checked. */
  readonly expected: Expectation[] = [];
  /** Paths in the source of what a connection came from. */
  readonly origins = new Map<SourceConnection, string[]>();
  readonly #options: Record<string, unknown> = {};
  /** Paths in the source by option. */
  readonly optionOrigins = new Map<string, string[]>();

  /** The connection with these settings: the same one for equal settings. */
  connect(wanted: SourceConnection, from: SourceNode): SourceConnection {
    const key = keyOf(wanted);
    let found = this.connections.find((connection) => keyOf(connection) === key);
    if (!found) this.connections.push((found = wanted));
    const origins = this.origins.get(found) ?? [];
    this.origins.set(found, [...new Set([...origins, from.where])]);
    return found;
  }

  /** Adds a model to a name. */
  serve(name: string, use: Use, from: SourceNode): void {
    const known = this.names.find((entry) => entry.name === name);
    if (known) {
      known.uses.push(use);
      known.from.push(from.where);
    } else this.names.push({ name, uses: [use], from: [from.where] });
  }

  isServed(name: string): boolean {
    const aliases = (this.#options["aliases"] ?? {}) as object;
    return Object.hasOwn(aliases, name) || this.names.some((entry) => entry.name === name);
  }

  /** Sets an option of `weir.yaml`. @param path for example `timeouts.firstByteMs` or `["aliases", "my.model"]` */
  set(path: string | readonly string[], value: unknown, from?: SourceNode): void {
    const steps = typeof path === "string" ? path.split(".") : path;
    let group = this.#options;
    for (const step of steps.slice(0, -1)) group = (group[step] ??= {}) as Record<string, unknown>;
    group[steps.at(-1)!] = value;
    const [section = "", entry] = steps;
    const block = MAPS.has(section) && entry !== undefined ? `${section}.${entry}` : section;
    if (from) this.optionOrigins.set(block, [...(this.optionOrigins.get(block) ?? []), from.where]);
  }

  /** Adds an entry to an option that is a list. */
  add(option: string, value: unknown, from?: SourceNode): void {
    this.set(option, [...((this.#options[option] ?? []) as unknown[]), value], from);
  }

  get(option: string): unknown {
    return this.#options[option];
  }

  /** The options in the order of the file. */
  get options(): Record<string, unknown> {
    const names = Object.keys(this.#options);
    const place = (name: string) => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);
    return Object.fromEntries(
      names.toSorted((a, b) => place(a) - place(b)).map((name) => [name, this.#options[name]]),
    );
  }
}

function keyOf({ provider, group, settings }: SourceConnection): string {
  const members = Object.entries(settings).filter(([, value]) => value !== undefined);
  return JSON.stringify([provider, group, members.toSorted(([a], [b]) => a.localeCompare(b))]);
}

/** Characters that names of models must not have become dashes. */
export function modelName(text: string): string {
  return text
    .trim()
    .replace(/[^\w.:/@+-]+/g, "-")
    .slice(0, 200);
}

/** A name for a provider or a deployment: lower-case letters, digits and dashes. */
export function shortName(text: string, fallback: string): string {
  const name = text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 40);
  return name.replace(/-+$/, "") || fallback;
}
