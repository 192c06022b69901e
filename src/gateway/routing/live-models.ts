/**
 * The model lists of hosts (`GET …/models`). Local servers serve the models that their operator loaded, which no plugin can
 * know. weir fetches a list at the start, and again when a client asks for the list or for a name that no other rule knows.
 */
import type { ActiveProvider, Deployment } from "../../core/provider.ts";
import type { Format } from "../../core/format.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { isObject, parseJson } from "../../core/json.ts";
import type { ModelFacts } from "../../core/model-facts.ts";
import { endsWithin } from "../../core/within.ts";
import { mergeFacts } from "../models/join-facts.ts";
import { authorizedHeaders } from "./authorizer.ts";
import { compilePattern } from "./pattern.ts";
import type { Rule } from "./rules.ts";

/** Maximum time a caller waits for lists. Milliseconds. */
const MAX_WAIT_MS = 1000;
/** Timeout of one fetch. Milliseconds. */
const FETCH_MS = 5000;
/** Minimum time between two fetches of a list. Milliseconds. */
const REFRESH_MS = 5000;
/** The same after a failed fetch. Milliseconds. */
const REFRESH_AFTER_FAILURE_MS = 10_000;
/** Maximum length of a list, in characters. */
const MAX_TEXT = 4_000_000;
/** weir keeps the first names of a longer list. */
const MAX_NAMES = 5000;

/** The models of a host, with the facts that its list has. */
type Listed = ReadonlyMap<string, ModelFacts | undefined>;

interface Host {
  provider: ActiveProvider;
  list: List;
  deployment: Deployment;
  models: Listed;
  /** When the next fetch may start; monotonic milliseconds. */
  nextFetchAt: number;
  pending?: Promise<void>;
  /** A caller waited for the pending fetch until its time limit; later callers do not wait for it. */
  isSlow?: boolean;
}

export class LiveModels {
  readonly #hosts: readonly Host[];
  readonly #onChange: () => void;
  /** Counts the changes of lists and of their facts. */
  revision = 0;

  /**
   * @param order names of providers: the first wins a name that several hosts list
   * @param onChange called when a list has changed
   */
  constructor(
    providers: readonly ActiveProvider[],
    order: readonly string[],
    formats: ReadonlyMap<string, Format>,
    onChange: () => void,
  ) {
    this.#onChange = onChange;
    const rank = ({ name }: ActiveProvider) => (order.includes(name) ? order.indexOf(name) : order.length);
    this.#hosts = providers
      .toSorted((a, b) => rank(a) - rank(b))
      .filter(({ liveModels, speaks }) => liveModels && speaks)
      .flatMap((provider) =>
        provider.deployments.map((deployment) => ({
          provider,
          list: listOf(provider, formats),
          deployment,
          models: new Map(),
          nextFetchAt: 0,
        })),
      );
  }

  get isEmpty(): boolean {
    return this.#hosts.length === 0;
  }

  /** Starts to fetch the lists that are due, and does not wait for them. */
  refresh(): void {
    const now = performance.now();
    for (const host of this.#hosts) if (now >= host.nextFetchAt) host.pending ??= this.#fetch(host);
  }

  /** Fetches the lists that are due and waits for them, at most one second. */
  async wait(): Promise<void> {
    this.refresh();
    const awaited = this.#hosts.filter((host) => host.pending && !host.isSlow);
    if (awaited.length === 0) return;
    await endsWithin(Promise.all(awaited.map((host) => host.pending)), MAX_WAIT_MS);
    for (const host of awaited) host.isSlow = host.pending !== undefined;
  }

  /** One rule for each provider that lists the model, in the order of the providers, with the deployments that list it. */
  rulesOf(name: string): { rule: Rule; deployments: readonly Deployment[] }[] {
    const found = new Map<ActiveProvider, Deployment[]>();
    for (const { provider, deployment, models } of this.#hosts)
      if (models.has(name)) found.set(provider, [...(found.get(provider) ?? []), deployment]);
    return [...found].map(([provider, deployments], order) => {
      const builtIn = provider.source === "built-in";
      const rule = { pattern: compilePattern(name), provider, forced: false, builtIn, order, live: true };
      return { rule, deployments };
    });
  }

  /** All models of all hosts, under the names that their hosts use. */
  *all(): Generator<{ provider: ActiveProvider; model: string }> {
    for (const { provider, models } of this.#hosts)
      for (const model of models.keys()) yield { provider, model };
  }

  /** A model as the list of a provider's host has it. */
  factsOf(name: string, model: string): ModelFacts | undefined {
    const host = this.#hosts.find(({ provider, models }) => provider.name === name && models.has(model));
    return host?.models.get(model);
  }

  async #fetch(host: Host): Promise<void> {
    const models = await fetchList(host);
    host.pending = undefined;
    host.isSlow = false;
    host.nextFetchAt = performance.now() + (models ? REFRESH_MS : REFRESH_AFTER_FAILURE_MS);
    // After a failed fetch the earlier list stays valid.
    if (!models || Bun.deepEquals(models, host.models)) return;
    const isSame = sameNames(models, host.models);
    host.models = models;
    this.revision++;
    if (!isSame) this.#onChange();
  }
}

/** Where a host lists its models, and what its answer says. */
interface List {
  path: string;
  namesIn(list: JsonObject): readonly (Json | undefined)[] | undefined;
  /** The entries in the order of their names. */
  entriesIn(list: JsonObject): readonly (Json | undefined)[] | undefined;
  factsIn(entry: JsonObject): ModelFacts | undefined;
}

/** At a path that a format has for hosts of its own, the list is beside it. */
function listOf({ speaks = {} }: ActiveProvider, formats: ReadonlyMap<string, Format>): List {
  const spoken = Object.keys(speaks).flatMap((id) => formats.get(id)?.upstream ?? []);
  const factsIn = (entry: JsonObject) =>
    mergeFacts(spoken.map((codec) => codec.address.models?.factsIn?.(entry)));
  for (const [id, path] of Object.entries(speaks)) {
    const alone = formats.get(id)?.upstream?.address.endpoint?.alone;
    if (alone && Bun.deepEquals(path, alone.path))
      return {
        path: alone.models,
        namesIn: alone.namesIn ?? idsIn,
        entriesIn: alone.entriesIn ?? dataIn,
        factsIn,
      };
  }
  return { path: "/models", namesIn: idsIn, entriesIn: dataIn, factsIn };
}

function dataIn({ data }: JsonObject): readonly Json[] | undefined {
  return Array.isArray(data) ? data : undefined;
}

function idsIn(list: JsonObject): readonly (Json | undefined)[] | undefined {
  return dataIn(list)?.map((model) => (isObject(model) ? model["id"] : undefined));
}

/** The models of a host; `undefined` if the fetch failed or the answer is no model list. */
async function fetchList({ provider, list, deployment }: Host): Promise<Listed | undefined> {
  const { authorizer, credentials } = deployment;
  const url = deployment.baseUrl + list.path;
  const signal = AbortSignal.timeout(FETCH_MS);
  const headers = { "user-agent": "weir", ...provider.headers, ...credentials };
  const request = { method: "GET", url, headers, body: [], stop: signal } as const;
  try {
    const response = await fetch(url, {
      headers: authorizer ? await authorizedHeaders(request, authorizer) : headers,
      redirect: "manual",
      signal,
      ...(deployment.tls && { tls: deployment.tls }),
    } as RequestInit);
    const text = response.ok ? await response.text() : "";
    const body = text.length > MAX_TEXT ? undefined : parseJson(text);
    return isObject(body) ? modelsIn(body, list) : undefined;
  } catch {
    return undefined;
  }
}

function modelsIn(body: JsonObject, { namesIn, entriesIn, factsIn }: List): Listed | undefined {
  const names = namesIn(body);
  if (!names) return undefined;
  const entries = entriesIn(body);
  const models = new Map<string, ModelFacts | undefined>();
  for (const [index, name] of names.entries()) {
    if (models.size >= MAX_NAMES) break;
    if (!isName(name) || models.has(name)) continue;
    const entry = entries?.[index];
    models.set(name, isObject(entry) ? factsIn(entry) : undefined);
  }
  return models;
}

function isName(id: unknown): id is string {
  return typeof id === "string" && id !== "" && id.length <= 256;
}

function sameNames(a: Listed, b: Listed): boolean {
  return a.size === b.size && [...a.keys()].every((name) => b.has(name));
}
