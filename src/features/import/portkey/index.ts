/** A gateway config of Portkey. https://portkey.ai/docs/api-reference/inference-api/config-object */
import type { Draft, Use } from "../draft.ts";
import type { References } from "../environment.ts";
import { type Reading, SourceError } from "../reader.ts";
import { count } from "../settings.ts";
import type { SourceNode } from "../source.ts";
import { memberOf, type ReadTarget, readTarget } from "./targets.ts";

/** Configs of Portkey refer to no environment variables. */
export const references: References = () => undefined;

/** The name of the route for calls of any model. */
const NAME = "portkey";
const MOST_ATTEMPTS = 10;

/** A target with its place among all. */
interface Placed extends ReadTarget {
  weight: number;
  priority: number;
  node: SourceNode;
}

export function read(reading: Reading): void {
  const { leaves } = reading;
  const config = reading.root.member("config") ?? reading.root;
  const isConfig = [
    "strategy",
    "targets",
    "provider",
    "virtual_key",
    "virtualKey",
    "cache",
    "retry",
    "override_params",
  ];
  if (!isConfig.some((name) => config.member(name)))
    throw new SourceError(
      `${leaves.name}:1`,
      "this is no config of Portkey: it has neither a strategy with targets nor a provider",
    );
  const placed = readGroup(reading, config);
  servePlaced(reading, placed);
  readSettings(reading, config, placed);
}

/** The targets of a config, or the config as a target. */
function readGroup(reading: Reading, node: SourceNode): Placed[] {
  const targets = node.member("targets")?.items ?? [];
  if (targets.length === 0) {
    const target = readTarget(reading, node);
    return target ? [{ ...target, weight: 1, priority: 0, node }] : [];
  }
  const strategy = node.member("strategy");
  const mode = strategy?.member("mode");
  readStatusCodes(strategy);
  if (mode?.text === "conditional") return readConditions(reading, strategy!, targets);
  const groups = targets.map((target) => readGroup(reading, target));
  if (MODES.has(mode?.text ?? "")) mode?.taken("routes");
  else mode?.dropped("weir does not know the mode, and tries the targets in their order");
  for (const target of targets)
    target.member("name")?.changed("weir names deployments, not targets", "providers");
  if (mode?.text === "loadbalance") return balanced(targets, groups, mode);
  for (const target of targets) target.member("weight")?.dropped("a strategy of this mode has no weights");
  return mode?.text === "single" ? (groups[0] ?? []) : inOrder(groups);
}

const MODES = new Set(["single", "loadbalance", "fallback"]);

/** Each target gets its share of the calls. */
function balanced(targets: readonly SourceNode[], groups: readonly Placed[][], mode: SourceNode): Placed[] {
  const isNested = groups.some((group) => new Set(group.map(({ priority }) => priority)).size > 1);
  if (isNested)
    mode.changed(
      "after a failure weir tries the fallbacks of all targets, not only those of the target that failed",
    );
  return groups.flatMap((group, index) => {
    const weight = targets[index]!.member("weight");
    if (weight?.number === 0) {
      targets[index]!.dropped("its weight is 0, so it gets no calls");
      return [];
    }
    weight?.taken("routes");
    const sum = group.filter(({ priority }) => priority === 0).reduce((all, one) => all + one.weight, 0);
    return group.map((one) => ({ ...one, weight: ((weight?.number ?? 1) * one.weight) / (sum || 1) }));
  });
}

/** Each target is tried after those before it have failed. */
function inOrder(groups: readonly Placed[][]): Placed[] {
  let next = 0;
  return groups.flatMap((group) => {
    const first = next;
    next += 1 + Math.max(-1, ...group.map(({ priority }) => priority));
    return group.map((one) => ({ ...one, priority: first + one.priority }));
  });
}

/** Conditions on the model that the client asks for become names; weir has no others. */
function readConditions(reading: Reading, strategy: SourceNode, targets: readonly SourceNode[]): Placed[] {
  const groups = new Map(
    targets.map((target) => [target.member("name")?.text ?? "", readGroup(reading, target)]),
  );
  for (const target of targets) target.member("name")?.taken("aliases, routes");
  for (const condition of strategy.member("conditions")?.items ?? []) {
    const then = condition.member("then");
    const group = groups.get(then?.text ?? "");
    const models = modelsOf(condition.member("query"));
    if (models === undefined || !group) {
      condition.dropped(
        "weir chooses by the name of the model only",
        "a plugin with an early hook that chooses the model",
      );
      continue;
    }
    for (const model of models) serveAs(reading.draft, model, group);
    condition.taken("aliases, routes");
  }
  strategy.member("mode")?.changed("conditions on the model are names in weir", "aliases, routes");
  const standard = strategy.member("default");
  standard?.taken("aliases, routes");
  return groups.get(standard?.text ?? "") ?? [];
}

/** The models of `{"params.model": {"$eq": "fast"}}` or `{"$in": […]}`; `undefined` for any other condition. */
function modelsOf(query: SourceNode | undefined): string[] | undefined {
  const [only, ...others] = query?.members ?? [];
  if (others.length > 0 || only?.name !== "params.model") return undefined;
  const [operator, ...more] = only.members;
  if (only.text !== undefined) return [only.text];
  if (more.length > 0) return undefined;
  if (operator?.name === "$eq" && operator.text !== undefined) return [operator.text];
  if (operator?.name === "$in") return operator.items.flatMap(({ text }) => text ?? []);
  return undefined;
}

function serveAs(draft: Draft, name: string, group: readonly Placed[]): void {
  for (const one of group) {
    const model = one.model ?? name;
    draft.serve(name, useOf(one, model), one.node);
    const { connection, asked, from = [] } = one;
    if (asked) draft.expected.push({ name, connection, model, asked, from });
  }
}

function useOf({ connection, weight, priority }: Placed, model: string): Use {
  return { connection, model, weight, priority };
}

/** The model for clients that ask for any model. */
function servePlaced(reading: Reading, placed: readonly Placed[]): void {
  const { draft } = reading;
  const [first] = placed;
  if (!first) return;
  const withModel = placed.filter(({ model }) => model !== undefined);
  if (withModel.length === placed.length) {
    serveAs(draft, NAME, placed);
    draft.set(["aliases", "*"], NAME);
    reading.remarks.push(
      `the config names the models, whatever clients ask for: that is the name ${NAME}, and the alias * for all other names`,
    );
    return;
  }
  // Only names that the config lists can lead to another model, so the first target decides about all others.
  const isFirst = ({ connection, model }: Placed) =>
    connection.provider === first.connection.provider &&
    (model === undefined) === (first.model === undefined);
  const same = placed.filter(isFirst);
  if (first.model !== undefined) {
    serveAs(draft, NAME, same);
    draft.set(["aliases", "*"], NAME);
  } else
    for (const one of same) {
      draft.open.add(one.connection);
      draft.patterns.push({ connection: one.connection, pattern: "*" });
      draft.shares.set(one.connection, { weight: one.weight, priority: one.priority });
      const { connection, asked, from = [] } = one;
      if (asked) draft.expected.push({ name: "some-model", connection, model: "some-model", asked, from });
    }
  const others = placed.filter((one) => !isFirst(one));
  const later = others.filter(({ model, priority }) => model !== undefined && priority > first.priority);
  const named = later.map((one, index) => ({
    ...one,
    name: `${NAME}-fallback${index === 0 ? "" : `-${index + 1}`}`,
  }));
  for (const one of named) serveAs(draft, one.name, [one]);
  if (named.length > 0)
    draft.set(
      ["fallbacks", "*"],
      named.map(({ name }) => name),
      named[0]!.node,
    );
  const shared = others.filter(
    ({ model, connection }) => model === undefined && isSameFamily(first, connection),
  );
  if (first.model === undefined && shared.length > 0) serveCatalog(reading, [...same, ...shared]);
  for (const one of others.filter((other) => !later.includes(other))) {
    draft.open.add(one.connection);
    if (first.model === undefined && shared.includes(one)) continue;
    const { provider } = one.connection;
    one.node.lost(
      `weir sends the name that a client asks for to one provider, ${first.connection.provider}: ${provider} gets no calls`,
      `add the models of ${provider} to routes or fallbacks`,
    );
  }
}

/** Providers of the same models under the same names, if the operator has called the deployments so. */
const OF_OPENAI = ["openai", "azure", "azure-dated"];

function isSameFamily({ connection }: Placed, other: Placed["connection"]): boolean {
  return OF_OPENAI.includes(connection.provider) && OF_OPENAI.includes(other.provider);
}

/** weir leads each name to models by name, so the models that it knows become routes over all targets. */
function serveCatalog({ draft, vendors }: Reading, placed: readonly Placed[]): void {
  const models = (vendors.get("openai")?.catalog ?? []).filter((model) => !model.includes("embed"));
  for (const model of models) for (const one of placed) draft.serve(model, useOf(one, model), one.node);
  const [first, ...others] = placed;
  for (const { node, connection } of others)
    if (connection.provider !== first!.connection.provider)
      node.revised(
        `${connection.provider} gets calls for the models of OpenAI that weir knows, if its deployments have their names`,
        "routes",
      );
}

function readStatusCodes(strategy: SourceNode | undefined): void {
  const codes = strategy && memberOf(strategy, "on_status_codes");
  codes?.changed(
    "weir tries the next target after 408, 409, 425, 429 and 5xx, and when a host cannot be reached",
    "routes",
  );
}

function readSettings(reading: Reading, config: SourceNode, placed: readonly Placed[]): void {
  const { draft } = reading;
  const nodes = [config, ...placed.map(({ node }) => node)];
  const all = (name: string) => [...new Set(nodes.flatMap((node) => memberOf(node, name) ?? []))];
  const depth = 1 + Math.max(0, ...placed.map(({ priority }) => priority));
  const wanted = all("retry").flatMap((retry) => retry.member("attempts")?.number ?? []);
  const most = Math.min(MOST_ATTEMPTS, Math.max(depth, ...wanted.map((retries) => retries + 1)));
  if (wanted.length > 0 || most > 3) draft.set("retries.attempts", most, all("retry")[0]);
  for (const retry of all("retry")) {
    retry
      .member("attempts")
      ?.changed("weir counts all attempts of a call, at all targets", "retries.attempts");
    readRetryCodes(draft, retry, placed.length === 1 ? most - 1 : undefined);
  }
  for (const timeout of all("request_timeout")) {
    if (count(timeout) === undefined) continue;
    const known = draft.get("timeouts");
    if (known === undefined) draft.set("timeouts.firstByteMs", count(timeout), timeout);
    if (known === undefined)
      timeout.changed("weir limits the time to the first byte of the answer", "timeouts.firstByteMs");
    else timeout.dropped("the first request_timeout holds for all", "timeouts of the provider");
  }
  for (const cache of all("cache")) readCache(draft, cache);
  for (const [name, [why, instead]] of Object.entries(REST))
    for (const node of all(name)) node.dropped(why, instead);
  for (const node of nodes) readStatusCodes(node);
}

/** The causes of weir that have statuses of their own. */
const CAUSES_BY_STATUS: Readonly<Record<string, readonly number[]>> = {
  timeout: [408, 504],
  rateLimited: [429],
  overloaded: [425, 503, 529],
  serverError: [409, 500, 502],
  authentication: [401, 402, 403],
};

/**
 * `retry.on_status_codes`: `retries.policy` of weir.
 * @param repeats undefined if there are several targets, because the policy would keep weir from trying the next one
 */
function readRetryCodes(draft: Draft, retry: SourceNode, repeats: number | undefined): void {
  const codes = memberOf(retry, "on_status_codes");
  if (codes && repeats !== undefined && repeats > 0) {
    const listed = codes.items.map(({ number }) => number);
    for (const [cause, statuses] of Object.entries(CAUSES_BY_STATUS)) {
      const isListed = statuses.some((status) => listed.includes(status));
      draft.set(["retries", "policy", cause], isListed ? repeats : 0, codes);
    }
    codes.changed(
      "weir has one number for all statuses of a cause: 408 and 504, 503 and 529, 500 and 502",
      "retries.policy",
    );
  } else codes?.changed("weir decides by the failure what is retried");
}

function readCache(draft: Draft, cache: SourceNode): void {
  const mode = cache.member("mode");
  const age = memberOf(cache, "max_age");
  if (mode?.text !== "simple" && cache.text !== "simple") {
    cache.dropped("weir's cache knows equal requests only", "cache");
    return;
  }
  const ttlMs = age?.number === undefined ? undefined : Math.min(86_400_000, Math.max(1, age.number * 1000));
  draft.set("cache", { keys: ["*"], header: false, maxTemperature: "any", ...(ttlMs && { ttlMs }) }, cache);
  (mode ?? cache).changed("each process of weir has a cache of its own, in memory", "cache");
  age?.taken("cache.ttlMs");
}

const GUARDRAILS = [
  "weir has no guardrails",
  "a plugin with `request` and `answer` hooks can check calls",
] as const;
const REST: Readonly<Record<string, readonly [why: string, instead?: string]>> = {
  input_guardrails: GUARDRAILS,
  output_guardrails: GUARDRAILS,
  before_request_hooks: GUARDRAILS,
  after_request_hooks: GUARDRAILS,
  default_input_guardrails: GUARDRAILS,
  default_output_guardrails: GUARDRAILS,
  forward_headers: ["weir passes the headers that the format names", "headers of the provider"],
  strict_open_ai_compliance: ["weir's answers keep to the format of the client"],
  metadata: ["weir keeps no metadata of targets"],
  id: ["weir has one config"],
};
