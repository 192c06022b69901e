/**
 * The wishes of a request beside its content, as both formats write them; `undefined` when unsaid. And a rule for all other
 * members: what has no counterpart is either told as a loss or stands in the table of what may be left out in silence.
 */
import { schemaFaults } from "./schemas.ts";
import type { Api } from "./policy.ts";

type Value = Record<string, unknown>;

interface Setting {
  name: string;
  read: Record<Api, (body: Value) => unknown>;
  /** Fields under which a loss excuses a difference. */
  fields: RegExp;
  /** Whether what arrived says the same; equality when absent. */
  same?(wish: unknown, got: unknown, call: { sent: Value; reached: Value }): boolean;
}

const SETTINGS: readonly Setting[] = [
  {
    name: "output limit",
    read: {
      chat: (body) => body["max_completion_tokens"] ?? body["max_tokens"],
      messages: (body) => body["max_tokens"],
    },
    fields: /^max_/,
  },
  plain("temperature", /^temperature/, saysDefault),
  plain("top_p", /^top_p/, saysDefault),
  plain("top_k", /^(top_k|temperature)/),
  {
    name: "stream",
    // An upstream may be asked to stream what the client gets as JSON.
    read: {
      chat: ({ stream }) => stream === true || undefined,
      messages: ({ stream }) => stream === true || undefined,
    },
    fields: /^stream$/,
  },
  {
    name: "stop sequences",
    read: {
      chat: (body) => listed(body["stop"]),
      messages: (body) => listed(body["stop_sequences"]),
    },
    fields: /^stop/,
    same: (wish, got, { sent }) =>
      isEqual(wish, got) || isWatched(wish as unknown[], got, String(sent["model"])),
  },
  {
    name: "answer schema",
    read: {
      chat: ({ response_format: format }) =>
        objectOf(format)["type"] === "json_schema"
          ? (objectOf(objectOf(format)["json_schema"])["schema"] ?? {})
          : undefined,
      messages: (body) => {
        const format = objectOf(objectOf(body["output_config"])["format"] ?? body["output_format"]);
        return format["type"] === "json_schema" ? format["schema"] : undefined;
      },
    },
    fields: /^(response_format|output_)/,
    same: (wish, got) => got !== undefined && schemaFaults(wish, got, true).length === 0,
  },
  {
    name: "forced tools",
    read: {
      chat: ({ tool_choice: choice, function_call: legacy, tools, functions }) => {
        const wish = choice ?? legacy;
        if (wish === "none") return listed(tools ?? functions) && "none";
        if (wish === "required") return "any";
        return chosen(objectOf(wish)["function"]) ?? chosen(objectOf(wish)["custom"]) ?? chosen(wish);
      },
      messages: ({ tool_choice: choice, tools }) => {
        const { type } = objectOf(choice);
        if (type === "none") return listed(tools) && "none";
        return type === "any" ? "any" : type === "tool" ? chosen(choice) : undefined;
      },
    },
    fields: /^(tool_choice|function_call|tools)/,
    same: (wish, got, { sent, reached }) =>
      legal(String(wish)) === legal(String(got)) ||
      // LM Studio takes no name: the tool is forced by offering no other.
      (/^lmstudio\//.test(String(sent["model"])) && got === "any" && isOnlyTool(String(wish), reached)),
  },
  {
    name: "one call at a time",
    read: {
      chat: ({ parallel_tool_calls: parallel, tools }) =>
        parallel === false && listed(tools) ? true : undefined,
      messages: ({ tool_choice: choice, tools }) =>
        objectOf(choice)["disable_parallel_tool_use"] === true && listed(tools) ? true : undefined,
    },
    fields: /^(parallel_tool_calls|tool_choice|tools)/,
    // A choice of none has no room for it, and nothing to limit.
    same: (wish, got, { sent }) => wish === got || choiceOf(sent) === "none",
  },
  {
    name: "effort",
    read: { chat: effortOfChat, messages: effortOfMessages },
    fields: /^(reasoning|thinking|output_config|enable_thinking)/,
    same: sameEffort,
  },
  {
    name: "end user",
    read: {
      chat: (body) => body["safety_identifier"] ?? body["user"],
      messages: (body) => objectOf(body["metadata"])["user_id"],
    },
    fields: /^(user|safety_identifier|metadata)/,
    same: (wish, got) => got === masked(String(wish)),
  },
  {
    name: "service tier",
    read: {
      chat: ({ service_tier: tier }) => (tier === "default" ? "standard_only" : undefined),
      messages: ({ service_tier: tier }) => (tier === "standard_only" ? tier : undefined),
    },
    fields: /^service_tier/,
  },
];

/** Members that hold content or a setting above. */
const JUDGED: Record<Api, string> = {
  chat: `model messages max_tokens max_completion_tokens temperature top_p top_k stop stream tools tool_choice functions
    function_call parallel_tool_calls response_format reasoning_effort reasoning thinking enable_thinking user
    safety_identifier service_tier`,
  messages: `model messages system max_tokens temperature top_p top_k stop_sequences stream tools tool_choice
    output_config output_format thinking metadata service_tier`,
};

/**
 * Members that are left out in silence: hints for caches, what describes the form of the answer, which the client's own
 * codec writes, and members whose usual values ask for nothing.
 */
const SILENT: Record<Api, string> = {
  chat: `stream_options store prompt_cache_key prompt_cache_options prompt_cache_retention prediction cache_control usage
    service_tier n logprobs top_logprobs modalities`,
  messages: "cache_control context_management inference_geo speed",
};

/** Wishes that reach the upstream otherwise than they were said, and of which no loss tells. */
export function changedSettings(api: Api, sent: Value, reached: Value, losses: readonly string[]): string[] {
  const other = api === "chat" ? "messages" : "chat";
  return [...changedBetween(api, other, sent, reached, losses), ...untold(api, sent, reached, losses)];
}

/** Wishes of a request of one format that reach the upstream of the other otherwise, and of which no loss tells. */
export function changedBetween(
  api: Api,
  other: Api,
  sent: Value,
  reached: Value,
  losses: readonly string[],
): string[] {
  return SETTINGS.flatMap(({ name, read, fields, same }) => {
    const [wish, got] = [read[api](sent) ?? undefined, read[other](reached) ?? undefined];
    const isSame = wish === undefined || (same ?? isEqual)(wish, got, { sent, reached });
    if (isSame || losses.some((path) => fields.test(path))) return [];
    return [`${name}: ${show(wish)} became ${show(got)} without a word`];
  });
}

/** Members that are gone and that nobody tells of. One that reaches the upstream under its own name is carried. */
export function untold(api: Api, sent: Value, reached: Value, losses: readonly string[]): string[] {
  const known = new Set(`${JUDGED[api]} ${SILENT[api]}`.split(/\s+/));
  return Object.entries(sent)
    .filter(([name, value]) => !known.has(name) && saysSomething(value) && !isEqual(value, reached[name]))
    .filter(([name, value]) => name !== "random_seed" || value !== seedOf(reached))
    .filter(([name]) => !losses.some((path) => path === name || path.startsWith(`${name}.`)))
    .map(([name]) => `${name} is gone without a word`);
}

/** The seed under the names of all upstreams. */
function seedOf({ seed, generationConfig }: Value): unknown {
  return seed ?? objectOf(generationConfig)["seed"];
}

function saysSomething(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === 0) return false;
  return typeof value !== "object" || Object.keys(value).length > 0;
}

function plain(name: string, fields = new RegExp(`^${name}`), same?: Setting["same"]): Setting {
  const read = (body: Value) => body[name];
  return { name, read: { chat: read, messages: read }, fields, ...(same && { same }) };
}

/** A default that is left out, for models that refuse the member, loses nothing. */
function saysDefault(wish: unknown, got: unknown): boolean {
  return wish === got || (wish === 1 && got === undefined);
}

/** Models that refuse stop sequences: the gateway watches for them itself. */
const STOPLESS = /^(?:openai\/gpt-5|xai\/)/;

/** Of a list that is too long for the provider the gateway watches for the rest. */
function isWatched(wish: readonly unknown[], got: unknown, model: string): boolean {
  if (got === undefined) return STOPLESS.test(model);
  return Array.isArray(got) && got.length >= 4 && isEqual(wish.slice(0, got.length), got);
}

function isOnlyTool(name: string, { tools }: Value): boolean {
  const names = (tools as Value[] | undefined)?.map((tool) => chosen(tool["function"] ?? tool)) ?? [];
  return names.length === 1 && legal(String(names[0])) === legal(name);
}

/** Of the switches that vendors of this format have, the one that says most. */
function effortOfChat({ reasoning_effort: effort, reasoning, thinking }: Value): unknown {
  if (objectOf(thinking)["type"] === "disabled" || objectOf(reasoning)["enabled"] === false) return "none";
  // Groq's word for leaving it to the model.
  return objectOf(reasoning)["effort"] ?? (effort === "default" ? undefined : effort);
}

function effortOfMessages({ thinking, output_config: output }: Value): unknown {
  const { type, budget_tokens: budget } = objectOf(thinking);
  if (type === "disabled") return "none";
  return objectOf(output)["effort"] ?? (type === "enabled" ? { budget } : undefined);
}

/** Budgets in tokens up to which a word stands, in both directions. */
const BUDGETS: readonly [below: number, effort: string][] = [
  [2048, "minimal"],
  [8192, "low"],
  [16_384, "medium"],
  [32_768, "high"],
  [Number.POSITIVE_INFINITY, "xhigh"],
];

/** Budgets in tokens for models that know no words; the output limit leaves four fifths of itself to them. */
const TOKENS: Record<string, number> = {
  minimal: 1024,
  low: 4096,
  medium: 10_000,
  high: 16_000,
  xhigh: 32_000,
  max: 32_000,
};

function budgetFor(effort: string, { max_tokens: limit = Number.POSITIVE_INFINITY }: Value): number {
  return Math.min(TOKENS[effort] ?? 0, Math.floor(Number(limit) * 0.8));
}

/** The same word; `minimal` is the `low` of those who do not know it; no thinking at all is what `none` means. */
function sameEffort(wish: unknown, got: unknown, { reached }: { reached: Value }): boolean {
  const asked = objectOf(wish)["budget"];
  if (isEqual(wish, got)) return true;
  if (typeof asked === "number")
    return got === BUDGETS.find(([below]) => asked < below)![1] || (got === "low" && asked < 2048);
  const tokens = objectOf(got)["budget"];
  if (typeof tokens === "number") return tokens === Math.max(1024, budgetFor(String(wish), reached));
  if (wish === "none") return got === "none" || got === undefined;
  return isEqual(wish, got) || (wish === "minimal" && got === "low");
}

/** A person's name or address does not leave: what is no plain token goes as its SHA-256. */
function masked(user: string): string {
  const isToken = /^[\w-]{1,64}$/.test(user);
  return isToken ? user : new Bun.CryptoHasher("sha256").update(user).digest("hex");
}

function choiceOf({ tool_choice: choice }: Value): unknown {
  return objectOf(choice)["type"] ?? choice;
}

function legal(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 40);
}

function chosen(tool: unknown): unknown {
  return objectOf(tool)["name"];
}

function isEqual(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

function listed(stop: unknown): unknown[] | undefined {
  if (typeof stop === "string") return [stop];
  return Array.isArray(stop) && stop.length > 0 ? stop : undefined;
}

function objectOf(value: unknown): Value {
  return typeof value === "object" && value !== null ? (value as Value) : {};
}

function show(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 80) ?? "nothing";
}
