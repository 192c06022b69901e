/**
 * The models that hosts say they have (`GET …/models`). Local servers serve what somebody has loaded, which no plugin can
 * know. A list is fetched at the start and again when somebody asks for it or for a name that no other rule knows.
 */
import type { ActiveProvider, Deployment } from "../../core/provider.ts";
import { isObject, parseJson } from "../../core/json.ts";
import { compilePattern } from "./pattern.ts";
import type { Rule } from "./precedence.ts";

/** The longest a caller waits for lists. Milliseconds. */
const PATIENCE_MS = 1000;
/** The longest one fetch may take. Milliseconds. */
const FETCH_MS = 5000;
/** A list that is younger is not fetched again for an unknown name. Milliseconds. */
const FRESH_MS = 5000;
/** How long a host that did not answer is left alone. Milliseconds. */
const FAILED_MS = 10_000;
/** Most characters of a list that are read, and most names of it that are kept. */
const MAX_TEXT = 4_000_000;
const MAX_NAMES = 5000;

interface Host {
  provider: ActiveProvider;
  deployment: Deployment;
  models: ReadonlySet<string>;
  /** When it may be asked again; monotonic milliseconds. */
  nextAt: number;
  pending?: Promise<void>;
  /** Somebody has waited for the pending answer in vain; nobody else does. */
  late?: boolean;
}

export class LiveModels {
  readonly #hosts: readonly Host[];
  readonly #onChange: () => void;

  /** @param order names of providers: the first wins a name that several have @param onChange a list has changed */
  constructor(providers: readonly ActiveProvider[], order: readonly string[], onChange: () => void) {
    this.#onChange = onChange;
    const rank = ({ name }: ActiveProvider) => (order.includes(name) ? order.indexOf(name) : order.length);
    this.#hosts = providers
      .toSorted((a, b) => rank(a) - rank(b))
      .filter(({ liveModels, speaks }) => liveModels && speaks)
      .flatMap((provider) =>
        provider.deployments.map((deployment) => ({
          provider,
          deployment,
          models: new Set<string>(),
          nextAt: 0,
        })),
      );
  }

  get isEmpty(): boolean {
    return this.#hosts.length === 0;
  }

  /** Asks the hosts whose lists are old, without waiting. */
  refresh(): void {
    const now = performance.now();
    for (const host of this.#hosts) if (now >= host.nextAt) host.pending ??= this.#fetch(host);
  }

  /** Asks the hosts whose lists are old and waits for the answers, a second at most. */
  async wait(): Promise<void> {
    this.refresh();
    const awaited = this.#hosts.filter((host) => host.pending && !host.late);
    if (awaited.length === 0) return;
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, PATIENCE_MS);
    await Promise.race([Promise.all(awaited.map((host) => host.pending)), late]);
    clearTimeout(timer);
    for (const host of awaited) host.late = host.pending !== undefined;
  }

  /** One rule for each provider that has a model of this name, in order, with the places that have it. */
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

  /** Every model of every host, as its host calls it. */
  *all(): Generator<{ provider: ActiveProvider; model: string }> {
    for (const { provider, models } of this.#hosts) for (const model of models) yield { provider, model };
  }

  async #fetch(host: Host): Promise<void> {
    const models = await listOf(host);
    host.pending = undefined;
    host.late = false;
    host.nextAt = performance.now() + (models ? FRESH_MS : FAILED_MS);
    // A host that does not answer at the moment has the models it had.
    if (!models || sameNames(models, host.models)) return;
    host.models = models;
    this.#onChange();
  }
}

/** The names of a host's models; `undefined` when it does not say. */
async function listOf({ provider, deployment }: Host): Promise<ReadonlySet<string> | undefined> {
  const path = provider.speaks?.["messages"] === "/v1/messages" ? "/v1/models" : "/models";
  try {
    const response = await fetch(deployment.baseUrl + path, {
      headers: { "user-agent": "weir", ...provider.headers, ...deployment.credentials },
      redirect: "manual",
      signal: AbortSignal.timeout(FETCH_MS),
      ...(deployment.tls && { tls: deployment.tls }),
    } as RequestInit);
    const text = response.ok ? await response.text() : "";
    const body = text.length > MAX_TEXT ? undefined : parseJson(text);
    if (!isObject(body) || !Array.isArray(body.data)) return undefined;
    const names = body.data.flatMap((model) => (isObject(model) && isName(model.id) ? [model.id] : []));
    return new Set(names.slice(0, MAX_NAMES));
  } catch {
    return undefined;
  }
}

function isName(id: unknown): id is string {
  return typeof id === "string" && id !== "" && id.length <= 256;
}

function sameNames(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && a.isSubsetOf(b);
}
