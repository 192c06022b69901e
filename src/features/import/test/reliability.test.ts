/** Retries, cool-downs and timeouts of streams of other gateways become options of weir, with the same numbers. */
import { expect, test } from "bun:test";
import { stringify } from "yaml";
import { importText, load } from "./imported.ts";

const entry = (name: string, params: object = {}) => ({
  model_name: name,
  litellm_params: { model: "openai/gpt-4o", api_key: "os.environ/OPENAI_API_KEY", ...params },
});

async function imported(source: "litellm" | "portkey", text: string) {
  const result = importText(source, text);
  const { config } = await load(result, { OPENAI_API_KEY: "set" });
  const told = Object.fromEntries(
    result.outcomes.map(({ path, fate }) => [path.replace(/^\$?\.?(router_settings|retry)\./, ""), fate]),
  );
  return { config, told };
}

const litellm = (router: object, list: readonly object[] = [entry("m")], more: object = {}) =>
  imported("litellm", stringify({ model_list: list, router_settings: router, ...more }));

const REPEATS = {
  connection: 1,
  timeout: 1,
  rateLimited: 1,
  overloaded: 1,
  serverError: 1,
  invalidAnswer: 1,
  authentication: 1,
};

test("a retry policy of LiteLLM: its errors have their number, the others num_retries", async () => {
  const { config, told } = await litellm({
    num_retries: 1,
    retry_policy: {
      RateLimitErrorRetries: 4,
      TimeoutErrorRetries: 0,
      InternalServerErrorRetries: 2,
      AuthenticationErrorRetries: 3,
      BadRequestErrorRetries: 0,
      ContentPolicyViolationErrorRetries: 2,
    },
  });
  expect(config.retries).toMatchObject({
    attempts: 5,
    policy: { ...REPEATS, rateLimited: 4, timeout: 0, serverError: 2, authentication: 3 },
  });
  expect(told).toMatchObject({
    "retry_policy.RateLimitErrorRetries": "taken",
    "retry_policy.TimeoutErrorRetries": "taken",
    "retry_policy.AuthenticationErrorRetries": "changed",
    "retry_policy.BadRequestErrorRetries": "taken",
    "retry_policy.ContentPolicyViolationErrorRetries": "none",
  });
});

test("a policy within num_retries sets nothing else, and numbers that weir does not take are told", async () => {
  const { config } = await litellm({ num_retries: 5, retry_policy: { RateLimitErrorRetries: 2 } });
  expect(config.retries).toMatchObject({ attempts: 6, policy: { rateLimited: 2 } });
  expect(JSON.stringify(config.retries.policy)).toBe('{"rateLimited":2}');
  const odd = await litellm({ retry_policy: { RateLimitErrorRetries: 40, TimeoutErrorRetries: -1 } });
  expect(odd.config.retries).toMatchObject({ attempts: 10, policy: { rateLimited: 9 } });
  expect(odd.told).toMatchObject({
    "retry_policy.RateLimitErrorRetries": "changed",
    "retry_policy.TimeoutErrorRetries": "none",
  });
});

test("policies and retries of one model, and not those of several deployments", async () => {
  const { config, told } = await litellm(
    { num_retries: 1, model_group_retry_policy: { m: { RateLimitErrorRetries: 3 }, other: {} } },
    [
      entry("m", { num_retries: 2, cooldown_time: 7 }),
      entry("two", { num_retries: 3, cooldown_time: 5 }),
      entry("two", { model: "groq/x", api_key: "os.environ/GROQ_API_KEY" }),
    ],
  );
  expect(config.models).toEqual({
    m: {
      retries: { attempts: 4, policy: { ...REPEATS, rateLimited: 3 } },
      circuitBreaker: { cooldownMs: 7_000, longestCooldownMs: 7_000 },
    },
  });
  expect(Object.entries(told).filter(([, fate]) => fate === "none")).toEqual([
    ["model_list[1].litellm_params.num_retries", "none"],
    ["model_list[1].litellm_params.cooldown_time", "none"],
  ]);
});

test("cool-downs of LiteLLM: one failure more than allowed, a fixed time, off", async () => {
  const { config, told } = await litellm({
    allowed_fails: 0,
    allowed_fails_policy: { RateLimitErrorAllowedFails: 10_000, BadRequestErrorAllowedFails: 1 },
    cooldown_time: 0.5,
    disable_cooldowns: false,
  });
  expect(config.circuitBreaker).toEqual({
    enabled: true,
    failures: 1,
    cooldownMs: 500,
    longestCooldownMs: 500,
    policy: { rateLimited: 10_001 },
  });
  expect(told).toMatchObject({
    allowed_fails: "changed",
    "allowed_fails_policy.RateLimitErrorAllowedFails": "changed",
    cooldown_time: "taken",
    disable_cooldowns: "taken",
  });
  for (const off of [{ disable_cooldowns: true }, { cooldown_time: 0 }])
    expect((await litellm(off)).config.circuitBreaker.enabled).toBe(false);
});

test("the timeout of streams is apart from the other one, for all and for a deployment", async () => {
  const { config, told } = await litellm({ timeout: 60, stream_timeout: 5 }, [
    entry("m", { stream_timeout: 2.5 }),
  ]);
  expect(config.timeouts).toMatchObject({ firstByteMs: 60_000, streamFirstByteMs: 5_000 });
  expect(config.providers["openai"]?.timeouts).toEqual({ streamFirstByteMs: 2_500 });
  expect(told).toMatchObject({ stream_timeout: "changed" });
});

test("Portkey's statuses become a policy where there is one target", async () => {
  const target = { provider: "openai", api_key: "sk-x" };
  const retry = { attempts: 4, on_status_codes: [429, 503] };
  const one = await imported("portkey", JSON.stringify({ ...target, retry }));
  expect(one.config.retries).toMatchObject({
    attempts: 5,
    policy: { rateLimited: 4, overloaded: 4, serverError: 0, timeout: 0, authentication: 0 },
  });
  const targets = [target, { provider: "anthropic", api_key: "sk-y" }];
  const two = await imported("portkey", JSON.stringify({ strategy: { mode: "fallback" }, targets, retry }));
  expect(JSON.stringify(two.config.retries.policy)).toBe("{}");
});
