/** `governance`: virtual keys, and the budgets and rate limits of keys, teams, customers, models and providers. */
import { nameFrom } from "../../../core/name.ts";
import { shortName } from "../draft.ts";
import type { Reading } from "../reader.ts";
import type { SourceNode } from "../source.ts";
import { budgetWindow } from "../windows.ts";
import { valueNode } from "./values.ts";

/** The entries of a list of `governance` by their id. */
type ById = ReadonlyMap<string, SourceNode>;

interface Governance {
  reading: Reading;
  budgets: ById;
  rates: ById;
  /** Paths of teams and customers in the tree of keys. */
  paths: ReadonlyMap<string, string>;
}

/** The calls that count for a budget, as `on` of weir, and where it is in `weir.yaml`. */
interface Holder {
  name: string;
  on: unknown;
}

export function readGovernance(reading: Reading, section: SourceNode | undefined, version: number): void {
  if (section === undefined) return;
  const budgets = byId(section.member("budgets"));
  const rates = byId(section.member("rate_limits"));
  const governance: Governance = { reading, budgets, rates, paths: pathsOf(section) };
  for (const list of ["customers", "teams", "business_units"])
    for (const entry of section.member(list)?.items ?? []) readGroup(governance, entry);
  for (const entry of section.member("virtual_keys")?.items ?? []) readKey(governance, entry, version);
  for (const entry of section.member("model_configs")?.items ?? []) readModel(governance, entry);
  for (const entry of section.member("providers")?.items ?? []) readProvider(governance, entry);
  for (const node of [...budgets.values(), ...rates.values()])
    node.dropped("nothing in the file refers to it, or what does was left out");
  for (const [name, [why, instead]] of Object.entries(NO_COUNTERPART))
    section.member(name)?.dropped(why, instead);
}

const NO_COUNTERPART: Readonly<Record<string, readonly [why: string, instead?: string]>> = {
  routing_rules: [
    "weir chooses a model by its name",
    "routes, or a plugin with an early hook that chooses the model",
  ],
  auth_config: ["weir's admin API takes keys", "weir admin key create NAME"],
  pricing_overrides: ["the import does not read these prices", "prices"],
  complexity_analyzer_config: ["weir chooses a model by its name"],
  roles: ["an admin key of weir may change all, or read", "weir admin key create NAME --read"],
  access_profiles: ["weir has no profiles of keys"],
};

function byId(list: SourceNode | undefined): ById {
  return new Map((list?.items ?? []).map((node) => [node.member("id")?.text ?? "", node]));
}

/** A customer is a place in the tree of keys, and a team a place below it. */
function pathsOf(section: SourceNode): ReadonlyMap<string, string> {
  const paths = new Map<string, string>();
  for (const list of ["customers", "business_units", "teams"])
    for (const node of section.member(list)?.items ?? []) {
      const id = node.member("id")?.text ?? "";
      const above = paths.get(node.member("customer_id")?.text ?? "") ?? "";
      paths.set(id, `${above}/${shortName(node.member("name")?.text ?? id, "team")}`);
    }
  return paths;
}

function readGroup(governance: Governance, entry: SourceNode): void {
  const path = governance.paths.get(entry.member("id")?.text ?? "") ?? "/";
  const holder = { name: shortName(path, "group"), on: path };
  const to = "keys[].path";
  for (const name of ["id", "name", "customer_id"])
    entry.member(name)?.changed("keys form a tree by their path", to);
  readLimits(governance, entry, holder);
  for (const name of [
    "source_id",
    "profile",
    "config",
    "claims",
    "virtual_key_count",
    "business_unit_id",
    "team_ids",
  ])
    entry.member(name)?.dropped("weir has no teams; keys form a tree by their path");
}

/** The budgets and rate limits that an entry names, or that name it. */
function readLimits({ reading, budgets, rates }: Governance, entry: SourceNode, holder: Holder): void {
  const id = entry.member("id")?.text;
  const named = [entry.member("budget_id"), ...(entry.member("budget_ids")?.items ?? [])].filter(
    (node) => node,
  );
  const owned = [...budgets.values()].filter((budget) =>
    OWNERS.some((owner) => budget.member(owner)?.text === id),
  );
  const found = [...named.flatMap((node) => budgets.get(node?.text ?? "") ?? []), ...owned];
  const inline = entry.member("budgets")?.items ?? [];
  for (const node of named) node?.taken("budgets");
  for (const [index, budget] of [...found, ...inline].entries())
    readBudget(reading, budget, {
      ...holder,
      name: index === 0 ? holder.name : `${holder.name}-${index + 1}`,
    });
  const rateId = entry.member("rate_limit_id");
  const rate = rates.get(rateId?.text ?? "");
  if (rate) {
    rateId?.taken("rates");
    const units = unitsOf(rate);
    if (Object.keys(units).length > 0)
      reading.draft.set(["rates", holder.name], { on: holder.on, ...units }, rate);
  }
  const aligned = entry.member("calendar_aligned");
  if (aligned?.value === true) aligned.taken("budgets");
  else aligned?.changed("weir's windows begin with the calendar", "budgets");
}

const OWNERS = ["virtual_key_id", "customer_id", "team_id", "model_config_id"];

function readBudget(reading: Reading, budget: SourceNode, { name, on }: Holder): void {
  const limit = budget.member("max_limit");
  const every = budget.member("reset_duration");
  const window = budgetWindow(every?.text);
  if (limit?.number === undefined || !window) {
    budget.dropped("the import does not understand reset_duration", "budgets");
    return;
  }
  const to = `budgets.${name}`;
  reading.draft.set(["budgets", name], { on, every: window.every, limit: limit.number }, budget);
  limit.taken(`${to}.limit`);
  if (window.why === undefined) every?.taken(`${to}.every`);
  else every?.changed(window.why, `${to}.every`);
  budget.member("id")?.ignored("weir names a budget by what it is on");
  for (const member of OWNERS) budget.member(member)?.taken(to);
  budget.member("calendar_aligned")?.changed("weir's windows begin with the calendar", to);
  for (const member of ["current_usage", "last_reset"])
    budget.member(member)?.dropped("weir's books begin empty, so the budget begins with its whole limit");
}

const MINUTES: Readonly<Record<string, number>> = {
  s: 1 / 60,
  m: 1,
  h: 60,
  d: 1440,
  w: 10_080,
  M: 43_200,
  Y: 525_600,
};

/** Requests and tokens in a time, as requests and tokens a minute or a day. */
function unitsOf(rate: SourceNode): Record<string, number> {
  const unit = (kind: "request" | "token", letter: "r" | "t") => {
    const most = rate.member(`${kind}_max_limit`);
    const every = rate.member(`${kind}_reset_duration`);
    const [, number = "", measure = ""] = /^(\d+)([smhdwMY])$/.exec(every?.text ?? "1m") ?? [];
    const minutes = Number(number) * (MINUTES[measure] ?? 0);
    if (most?.number === undefined || minutes === 0) return {};
    const isDay = minutes >= 1440;
    const name = `${letter}p${isDay ? "d" : "m"}`;
    const limit = Math.max(1, Math.round(most.number / (isDay ? minutes / 1440 : minutes)));
    const isSame = minutes === 1 || minutes === 1440;
    for (const node of [most, every])
      if (isSame) node?.taken(`rates.${name}`);
      else node?.changed("weir counts by the minute or by the day", `rates.${name}`);
    return { [name]: limit };
  };
  rate.member("id")?.ignored("weir names a limit by what it is on");
  for (const node of rate.members)
    if (/_current_usage$|_last_reset$/.test(node.name)) node.dropped("weir's counters begin at zero");
  return { ...unit("request", "r"), ...unit("token", "t") };
}

function readKey(governance: Governance, entry: SourceNode, version: number): void {
  const { reading, paths } = governance;
  const value = valueNode(entry.member("value"));
  const name = entry.member("name");
  if (entry.member("is_active")?.value === false || value?.text === undefined) {
    entry.dropped(
      value?.text === undefined
        ? "the key has no value"
        : "the key is not active, and weir knows no key that is not",
    );
    return;
  }
  const known = ((reading.draft.get("keys") ?? []) as { name: string }[]).map((key) => key.name);
  const fitting = nameFrom(name?.text ?? "key");
  const own = known.includes(fitting) ? `${fitting}-${known.length + 1}` : fitting;
  const to = `keys.${own}`;
  const owner = entry.member("team_id") ?? entry.member("customer_id");
  const path = paths.get(owner?.text ?? "");
  const expires = entry.member("expires_at");
  reading.draft.add(
    "keys",
    {
      name: own,
      ...reading.gatewayKey(value),
      ...(path !== undefined && { path }),
      ...(expires?.text && { expires: expires.text }),
      ...scopesOf(entry, to, version),
    },
    entry,
  );
  value.hide();
  for (const node of [value, name, expires, entry.member("is_active")]) node?.taken(to);
  owner?.changed("keys form a tree by their path", `${to}.path`);
  readLimits(governance, entry, { name: shortName(own, "key"), on: { key: own } });
  entry.member("id")?.ignored("weir names a key by its name");
  entry.member("description")?.dropped("weir keeps no notes about keys");
  entry.member("mcp_configs")?.dropped("weir serves no MCP tools");
}

/** `provider_configs`: the providers and models that a key may use. An empty list means none, in version 1 all. */
function scopesOf(entry: SourceNode, to: string, version: number): Record<string, unknown> {
  const configs = entry.member("provider_configs")?.items ?? [];
  const providers = new Set<string>();
  const models = new Set<string>();
  for (const config of configs) {
    const provider = config.member("provider");
    const allowed = config.member("allowed_models")?.items ?? [];
    if (provider?.text === undefined) continue;
    providers.add(provider.text);
    provider.taken(`${to}.providers`);
    config.member("allowed_models")?.taken(`${to}.models`);
    const isAll = allowed.some(({ value }) => value === "*") || (allowed.length === 0 && version === 1);
    for (const model of isAll ? ["*"] : allowed.map(({ text = "" }) => text))
      models.add(`${provider.text}/${model}`);
    config.member("weight")?.dropped("the routes of weir hold for all keys", "routes with weights");
    config.member("key_ids")?.dropped("weir chooses a deployment for all keys in the same way");
    config.member("keys")?.dropped("weir chooses a deployment for all keys in the same way");
    config.dropped("weir's budgets on providers count all keys", "a key for each provider");
  }
  if (providers.size === 0) return {};
  const isOpen = [...models].every((model) => model.endsWith("/*"));
  return { providers: [...providers], ...(!isOpen && { models: [...models] }) };
}

function readModel(governance: Governance, entry: SourceNode): void {
  const model = entry.member("model_name")?.text ?? "*";
  const pattern = `${entry.member("provider")?.text ?? "*"}/${model}`;
  if ((entry.member("scope")?.text ?? "global") !== "global") {
    entry.dropped("weir's budgets on models count all keys", "a key for each model");
    return;
  }
  for (const name of ["model_name", "provider", "scope"]) entry.member(name)?.taken("budgets, rates");
  entry.member("id")?.ignored("weir names a limit by its model");
  readLimits(governance, entry, { name: shortName(`model-${pattern}`, "model"), on: { model: pattern } });
}

function readProvider(governance: Governance, entry: SourceNode): void {
  const provider = entry.member("name");
  if (provider?.text === undefined) return;
  provider.taken("budgets, rates");
  readLimits(governance, entry, {
    name: shortName(`provider-${provider.text}`, "provider"),
    on: { provider: provider.text },
  });
  entry.dropped("settings of a provider are read from providers");
}
