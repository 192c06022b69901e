/** Retries and cool-downs: `retries` and `circuitBreaker` of weir. https://docs.litellm.ai/docs/proxy/reliability */
import { modelName, type Draft } from "../draft.ts";
import type { Reading } from "../reader.ts";
import { flag, option, type SettingRule, type Rules, seconds } from "../settings.ts";
import type { SourceNode } from "../source.ts";

/** Most attempts of a call that weir can be set to. */
const MOST_ATTEMPTS = 10;
/** LiteLLM's router tries a call again twice if nothing is set, and so does weir. */
const DEFAULT_ATTEMPTS = 3;
const MOST_FAILURES = 1_000_000;

const ATTEMPTS = "weir counts all attempts of a call, also those at its fallbacks";
const IN_A_ROW = "weir counts failures in a row, LiteLLM those of a minute";
const SHARED = "weir sets retries and cool-downs by name, and several deployments have this one";

const PATTERN = "the import sets retries and cool-downs of models that have a name";

type Policy = Record<string, number>;

/** The causes of weir by the names of LiteLLM's errors, with what differs for retries. */
const CAUSES: ReadonlyMap<string, readonly [cause: string, why?: string]> = new Map([
  ["TimeoutError", ["timeout", "a call that the provider may have read is repeated at most once"]],
  ["RateLimitError", ["rateLimited"]],
  ["InternalServerError", ["serverError"]],
  ["AuthenticationError", ["authentication", "a refused credential is repeated at other deployments only"]],
]);

/** Errors that are no fault of a deployment for weir. */
const FAULTS_OF_REQUESTS = new Set(["BadRequestError", "ContentPolicyViolationError"]);

/** All causes of weir. */
const ALL = "connection timeout rateLimited overloaded serverError invalidAnswer authentication".split(" ");

/**
 * `num_retries`, `retry_policy` and `model_group_retry_policy`.
 * @param sections in order of precedence @param longest the longest list of fallbacks, so that weir may try all of it
 */
export function readRetries(reading: Reading, sections: readonly SourceNode[], longest: number): void {
  const { draft } = reading;
  const chosen = firstOf(sections, "num_retries");
  const policyNode = firstOf(sections, "retry_policy");
  const groups = firstOf(sections, "model_group_retry_policy");
  const retries = chosen?.number;
  const wanted = retries === undefined ? DEFAULT_ATTEMPTS : retries + 1;
  const policy = policyNode ? retryPolicy(policyNode, "retries.policy") : {};
  const attempts = withinLimit(Math.max(wanted, longest + 1, mostOf(policy) + 1));
  if (attempts !== DEFAULT_ATTEMPTS || retries !== undefined)
    draft.set("retries.attempts", attempts, chosen ?? policyNode);
  chosen?.changed(ATTEMPTS, "retries.attempts");
  if (Object.keys(policy).length > 0) draft.set("retries.policy", completed(policy, wanted), policyNode);
  for (const group of groups?.entries ?? []) {
    const name = modelName(group.name);
    if (!draft.isServed(name)) {
      group.dropped("no entry of model_list has this name");
      continue;
    }
    const own = retryPolicy(group, "models");
    if (Object.keys(own).length === 0) continue;
    draft.set(
      ["models", name, "retries"],
      {
        ...(mostOf(own) + 1 > attempts && { attempts: mostOf(own) + 1 }),
        policy: completed(own, wanted, policyNode !== undefined),
      },
      group,
    );
  }
}

/** The value that LiteLLM prefers. The report names the others. */
function firstOf(sections: readonly SourceNode[], name: string): SourceNode | undefined {
  const [chosen, ...others] = sections.flatMap((section) => section.member(name) ?? []);
  for (const other of others) other.dropped("router_settings has another value, which LiteLLM prefers");
  return chosen;
}

function retryPolicy(section: SourceNode, to: string): Policy {
  const policy: Policy = {};
  for (const node of section.members) {
    const error = node.name.replace(/Retries$/, "");
    const [cause, why] = CAUSES.get(error) ?? [];
    const most = node.number;
    if (most === undefined || most < 0) node.dropped("the import does not understand the value", to);
    else if (cause !== undefined) {
      policy[cause] = Math.min(MOST_ATTEMPTS - 1, Math.round(most));
      if (most > MOST_ATTEMPTS - 1)
        node.changed(`weir repeats a call ${MOST_ATTEMPTS - 1} times at most`, to);
      else if (why === undefined || most === 0) node.taken(to);
      else node.changed(why, to);
    } else if (FAULTS_OF_REQUESTS.has(error) && most === 0)
      node.ignored("weir never repeats a request that the provider refuses");
    else node.dropped("weir never repeats such a call", to);
  }
  return policy;
}

/**
 * Where a policy needs more attempts than there were, the other causes keep their number.
 * @param replaces for a model: LiteLLM uses nothing of the policy for all
 */
function completed(policy: Policy, wanted: number, replaces = false): Policy {
  if (mostOf(policy) < wanted && !replaces) return policy;
  const others = ALL.map((cause) => [cause, Math.min(wanted, MOST_ATTEMPTS) - 1] as const);
  return { ...(Object.fromEntries(others) as Policy), ...policy };
}

function mostOf(policy: Policy): number {
  return Math.max(0, ...Object.values(policy));
}

function withinLimit(attempts: number): number {
  return Math.min(MOST_ATTEMPTS, Math.max(1, Math.round(attempts)));
}

/** `num_retries`, `max_retries` and `cooldown_time` of the entries of `model_list`. Fallbacks and `cooldown_time` are read. */
export function readModelReliability({ draft }: Reading, list: SourceNode | undefined): void {
  const entries = list?.items ?? [];
  const named = Map.groupBy(entries, (entry) => entry.member("model_name")?.text);
  for (const [text, sharing] of named)
    for (const entry of sharing) {
      const params = entry.member("litellm_params");
      const name = modelName(text ?? "");
      const retries = params?.member("num_retries") ?? params?.member("max_retries");
      const cooldown = params?.member("cooldown_time");
      const isOne = sharing.length === 1 && draft.isServed(name);
      if (isOne) setModel(draft, name, retries, cooldown);
      else
        for (const node of [retries, cooldown])
          node?.dropped(sharing.length > 1 ? SHARED : PATTERN, "models");
      if (retries?.name === "num_retries")
        params?.member("max_retries")?.dropped("num_retries has another value, which LiteLLM prefers");
    }
}

function setModel(draft: Draft, name: string, retries?: SourceNode, cooldown?: SourceNode): void {
  if (retries?.number !== undefined && retries.number >= 0) {
    const lists = (draft.get("fallbacks") ?? {}) as Record<string, unknown[]>;
    const models = (draft.get("models") ?? {}) as Record<string, { retries?: { policy?: Policy } }>;
    const policy = models[name]?.retries?.policy ?? {};
    const depth = (lists[name] ?? lists["*"] ?? []).length;
    draft.set(
      ["models", name, "retries", "attempts"],
      withinLimit(Math.max(retries.number, depth, mostOf(policy)) + 1),
      retries,
    );
    retries.changed(ATTEMPTS, "models");
  } else retries?.dropped("the import does not understand the value", "models");
  if (!cooldown) return;
  const breaker = breakerOf(cooldown);
  if (!breaker) return cooldown.dropped("the import does not understand the value", "models");
  draft.set(["models", name, "circuitBreaker"], breaker, cooldown);
  cooldown.taken("models");
}

/** `cooldown_time` is the same after each failed probe; 0 is none. */
function breakerOf(node: SourceNode): Record<string, unknown> | undefined {
  if (node.number === 0) return { enabled: false };
  const ms = seconds(node);
  return ms === undefined ? undefined : { cooldownMs: ms, longestCooldownMs: ms };
}

const failures = ({ number }: SourceNode) =>
  number === undefined || number < 0 ? undefined : Math.min(MOST_FAILURES, Math.round(number) + 1);

const readCooldown: SettingRule = (node, { draft }) => {
  const breaker = breakerOf(node);
  if (!breaker) return node.dropped("the import does not understand the value", "circuitBreaker");
  for (const [name, value] of Object.entries(breaker)) draft.set(["circuitBreaker", name], value, node);
  node.taken("circuitBreaker");
};

const readAllowedFails: SettingRule = (section, { draft }) => {
  for (const node of section.members) {
    const error = node.name.replace(/AllowedFails$/, "");
    const [cause] = CAUSES.get(error) ?? [];
    const most = failures(node);
    if (FAULTS_OF_REQUESTS.has(error))
      node.ignored("for weir a refused request is no failure of the deployment");
    else if (cause === undefined || most === undefined)
      node.dropped("the import does not understand it", "circuitBreaker.failures");
    else {
      draft.set(["circuitBreaker", "policy", cause], most, node);
      node.changed(IN_A_ROW, "circuitBreaker.policy");
    }
  }
};

/** Cool-downs, in `router_settings` or `litellm_settings`. */
export const COOLDOWN_RULES: Rules = {
  allowed_fails: option("circuitBreaker.failures", failures, IN_A_ROW),
  allowed_fails_policy: readAllowedFails,
  cooldown_time: readCooldown,
  disable_cooldowns: flag(
    option("circuitBreaker.enabled", () => false),
    (node) => node.taken("circuitBreaker.enabled"),
  ),
};
