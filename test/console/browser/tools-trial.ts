/** Answers of the admin API for the playground: synthetic. */
import type { CallEntry, Explained, Models, Names, Routing } from "../../../src/operator/index.ts";

export const MODELS: Models = {
  models: [
    { id: "mock/echo", provider: "mock" },
    { id: "openai/gpt-5.4", provider: "openai" },
  ],
  aliases: { fast: "groq/llama-4-maverick" },
  routes: ["smart"],
  formats: [
    { id: "chat-completions", path: "/v1/chat/completions" },
    { id: "messages", path: "/v1/messages" },
    { id: "responses", path: "/v1/responses" },
  ],
};

export const NAMES: Names = {
  keys: [
    { id: "key_41d0", name: "ci-bot", path: "/eng/agents", kind: "call", gone: false },
    { id: "key_77a1", name: "mara, Claude Code", path: "/eng", kind: "call", gone: false },
  ],
  paths: ["/", "/eng"],
  tags: [],
  models: ["gpt-5.4"],
  asked: ["smart"],
  providers: ["openai", "anthropic"],
  deployments: ["anthropic/us"],
  formats: ["messages"],
  clients: ["claude-cli/2.1.0"],
  budgets: [{ id: "b1", name: "agents, month" }],
};

const STEP = { weight: 1, priority: "0", lane: "native", url: "https://api.example.com/v1/messages" };
export const ROUTING: Routing = {
  model: "smart",
  plan: [
    {
      ...STEP,
      deployment: "anthropic/us",
      provider: "anthropic",
      model: "claude-sonnet-5",
      role: "target",
      reason: "first of the route",
      state: "left-alone",
      until: Date.now() + 42_000,
    },
    {
      ...STEP,
      deployment: "openai",
      provider: "openai",
      model: "gpt-5.4",
      role: "fallback",
      lane: "translated",
      reason: "fallback of the route",
      state: "healthy",
    },
  ],
  candidates: [
    {
      provider: "anthropic",
      pattern: "smart",
      model: "claude-sonnet-5",
      source: "routes",
      reason: "a route has this name",
      wins: true,
    },
    {
      provider: "openai",
      pattern: "*",
      model: "smart",
      source: "providers",
      reason: "serves every name",
      wins: false,
    },
  ],
};

export const EXPLAINED: Explained = {
  status: 200,
  explained: {
    format: "chat-completions",
    model: "smart",
    served_by: {
      provider: "openai",
      deployment: "openai",
      model: "gpt-5.4",
      lane: "translated",
      format: "responses",
      reason: "fallback of the route",
    },
    plan: [],
    request: {
      method: "POST",
      url: "https://api.openai.com/v1/responses",
      headers: { authorization: "Bearer $OPENAI_API_KEY", "content-type": "application/json" },
      body: { model: "gpt-5.4", max_output_tokens: 400, stream: true, input: "What is a weir?" },
    },
    cost: {
      hold: 0.001403,
      most: 0.006412,
      tokens: { input: 8, output: 400 },
      budgets: [
        { name: "eng, month", mode: "hard", on: "/eng", window: "month", limit: 500 },
        { name: "everything, month", mode: "watch", on: "all", window: "month", limit: 2_000 },
      ],
      rates: [],
    },
    losses: [{ code: "dropped", path: "stop[2]", note: "the provider takes two stop sequences" }],
  },
};

export const CALL: CallEntry = {
  id: "req_0000000000000000000001",
  startedAt: Date.now(),
  ms: 1_204,
  firstMs: 410,
  key: "key_41d0",
  keyName: "ci-bot",
  format: "chat-completions",
  lane: "translated",
  model: "smart",
  stream: true,
  status: 200,
  outcome: "complete",
  losses: EXPLAINED.explained!.losses,
  attempts: [
    {
      provider: "openai",
      deployment: "openai",
      model: "gpt-5.4",
      class: "answered",
      ms: 1_200,
      usage: { input: 12, cacheRead: 0, cacheWrite: 0, output: 41, reasoning: 0 },
      charge: { state: "metered", cost: 645_000 },
      held: 6_412_000,
      accounts: [],
    },
  ],
};

const chunk = (delta: object) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`;
/** A whole stream; its text would run a script if it were markup. */
export const STREAM = [
  chunk({ role: "assistant", content: "A weir is a low dam. " }),
  chunk({ content: "<img src=x onerror=alert(1)>" }),
  "data: [DONE]\n\n",
].join("");
