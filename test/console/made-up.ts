/** Answers of the admin API that a gateway with the mock alone never gives. All names and figures are synthetic. */
import type { DeploymentEntry, Providers } from "../../src/operator/index.ts";

const MINUTE = 60_000;

function deployment(name: string, changes: Partial<DeploymentEntry> = {}): DeploymentEntry {
  return {
    ...{ name, url: "https://api.example.com", state: "healthy", inflight: 3, breakers: [] },
    ...{
      calls: 900,
      looked: 900,
      failed: 0,
      shareOfCalls: 0.5,
      cost: 2_100_000_000,
      perMillion: 1_980_000_000,
    },
    latency: { calls: 900, p50: 410, p95: 1_320, total50: 4_100, total95: 14_800 },
    ...{ errors: [], series: [] },
    ...changes,
  };
}

/** Deployments in each state: skipped, being tried, healthy, busy, without a price, without a key. */
export function providersReport(now = Date.now()): Providers {
  const from = now - 60 * MINUTE;
  const series = Array.from({ length: 60 }, (_, at) => ({
    ...{ at: from + at * MINUTE, calls: 15, failed: at % 20 === 0 ? 1 : 0 },
    p95: 900 + 400 * Math.sin(at / 5) + (at > 45 ? 60 * (at - 45) : 0),
  }));
  const down = deployment("anthropic/eu", {
    ...{ state: "left-alone", failed: 14, shareOfCalls: 0.06, calls: 108, series, maxConcurrency: 40 },
    breakers: [
      {
        ...{ model: "claude-sonnet-4-6", state: "failing", since: now - MINUTE, until: now + 38_000 },
        ...{ reason: "status 529", workers: 2 },
      },
      {
        model: "claude-opus-4-6",
        state: "paused",
        until: now + 5 * MINUTE,
        reason: "status 429",
        workers: 1,
      },
    ],
    errors: [
      { class: "status 529", status: 529, group: "5xx", calls: 8 },
      { class: "status 429", status: 429, group: "429", calls: 4 },
      { class: "no-bytes", group: "broken", calls: 2 },
    ],
    lastError: { at: now - 12_000, call: "req_synthetic", status: 529, code: "overloaded_error" },
  });
  const trial = deployment("openai", {
    ...{ state: "on-trial", failed: 3, shareOfCalls: 0.2, series: series.filter(({ at }) => at % 4 > 0) },
    breakers: [{ model: "gpt-5.4", state: "half-open", workers: 1 }],
    errors: [{ class: "timeout", group: "broken", calls: 3 }],
  });
  const noKey = (name: string, keyVariable: string) => ({
    ...{ name, source: "built-in", formats: ["chat-completions"], patterns: [], on: false },
    deployments: [
      deployment(name, {
        state: "no-key",
        keyVariable,
        why: `set ${keyVariable} to its API key`,
        calls: 0,
        shareOfCalls: 0,
        cost: 0,
        latency: { calls: 0 },
      }),
    ],
  });
  return {
    ...{ from, to: now, sliceMs: MINUTE },
    providers: [
      {
        ...{ name: "anthropic", source: "built-in", formats: ["messages"], patterns: ["claude-*"], on: true },
        deployments: [down, deployment("anthropic/us", { series, keyVariable: "ANTHROPIC_API_KEY" })],
      },
      {
        ...{
          name: "openai",
          source: "built-in",
          formats: ["chat-completions"],
          patterns: ["gpt-*"],
          on: true,
        },
        deployments: [trial],
      },
      {
        ...{ name: "local", source: "config", formats: ["chat-completions"], patterns: [], on: true },
        deployments: [
          deployment("local", {
            ...{
              url: "http://127.0.0.1:11434",
              cost: 0,
              calls: 46,
              shareOfCalls: 0.01,
              latency: { calls: 46, p50: 90 },
            },
            perMillion: undefined,
          }),
        ],
      },
      noKey("groq", "GROQ_API_KEY"),
      noKey("mistral", "MISTRAL_API_KEY"),
      noKey("together", "TOGETHER_API_KEY"),
      noKey("deepseek", "DEEPSEEK_API_KEY"),
    ],
  };
}
