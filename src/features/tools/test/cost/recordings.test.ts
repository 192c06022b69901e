/** Calls of vendors: the tokens of tools and of the rest are the vendor's count, and the money is the charge. */
import { describe, expect, test } from "bun:test";
import { makeContext } from "../../../../../test/helpers/codec-context.ts";
import {
  haveRecordings,
  NO_RECORDINGS,
  type Recording,
  recordings,
  seededRandom,
  seedOf,
} from "../../../../../test/helpers/recordings.ts";
import { Call } from "../../../../core/call.ts";
import type { ChatRequest } from "../../../../core/chat.ts";
import { estimateTokens } from "../../../../core/estimate.ts";
import { NO_USAGE, type Usage, usageState } from "../../../../core/events.ts";
import { isObject, type JsonObject, parseJson } from "../../../../core/json.ts";
import { eventsOf } from "../../../../gateway/recording/events.ts";
import { meaningOf } from "../../../../gateway/recording/meaning.ts";
import type { PriceRule } from "../../../../ledger/charge.ts";
import { chargeOf } from "../../../../ledger/prices/charge-of.ts";
import { builtInFormats } from "../../../../run/formats.ts";
import { sumOf } from "../../cost/attribute.ts";
import { layoutOf } from "../../cost/layout.ts";
import { ToolLedger } from "../../cost/ledger.ts";
import { layoutOfLines } from "../../cost/lines.ts";
import { resultsIn } from "../../cost/note.ts";

const FORMATS = new Map(builtInFormats({ systemTurns: "reject" }).map((format) => [format.id, format]));
const IDS = {
  messages: "messages",
  chat: "chat-completions",
  responses: "responses",
  gemini: "gemini",
} as const;
type Api = keyof typeof IDS;

interface Known {
  readonly id: string;
  readonly request: ChatRequest;
  /** As weir reads it. */
  readonly usage: Usage;
  /** The vendor's own number of input tokens, read without the codecs of weir; undefined: it has none. */
  readonly counted: number | undefined;
}

function read(api: Api, recording: Recording): Known | undefined {
  const { client } = FORMATS.get(IDS[api])!;
  const { body } = recording.request ?? {};
  if (!body || recording.response.status !== 200 || !recording.response.body) return undefined;
  let request: ChatRequest;
  try {
    request = client!.codec.decodeRequest(body as JsonObject, makeContext());
  } catch {
    return undefined;
  }
  const isStream = recording.framing === "sse";
  const entry = {
    ...{ call: 1, operation: "generate", format: IDS[api], stream: isStream, status: 200, headers: {} },
    ...{ request: { model: "", lines: [], options: {} }, answer: [recording.response.body] },
    ...(isStream && { ms: [0] }),
  };
  const call = new Call("req_1", IDS[api], new Headers());
  try {
    const taped = { call, operation: "generate" as const, client: client!, body: {}, formats: FORMATS };
    const end = eventsOf(entry, taped).events.at(-1)?.event;
    if (end?.type !== "message-end") return undefined;
    return { id: recording.id, request, usage: end.usage, counted: countedIn(api, recording) };
  } catch {
    return undefined;
  }
}

/** All JSON objects of an answer. */
function objectsOf({ framing, response: { body = "" } }: Recording): JsonObject[] {
  const texts = framing === "sse" ? [...body.matchAll(/^data: ?(.*)$/gm)].map(([, data]) => data!) : [body];
  return texts.map(parseJson).filter(isObject);
}

function countedIn(api: Api, recording: Recording): number | undefined {
  const found: Record<string, unknown> = {};
  for (const one of objectsOf(recording)) {
    const inner = one[api === "messages" ? "message" : "response"];
    for (const holder of [one, inner, one["x_groq"]])
      if (isObject(holder)) {
        const usage = holder["usage"] ?? holder["usageMetadata"];
        if (isObject(usage))
          for (const [name, value] of Object.entries(usage)) if (value !== null) found[name] = value;
      }
  }
  const sum = (...names: string[]) => names.reduce((total, name) => total + Number(found[name] ?? 0), 0);
  if (Object.keys(found).length === 0) return undefined;
  if (api === "messages")
    return sum("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens");
  if (api !== "chat")
    return api === "responses" ? sum("input_tokens") : sum("promptTokenCount", "toolUsePromptTokenCount");
  const details = found["prompt_tokens_details"];
  const cached = isObject(details) ? Number(details["cached_tokens"] ?? 0) : 0;
  // More than the whole: such a vendor counts them apart.
  return sum("prompt_tokens") + (cached > sum("prompt_tokens") ? cached : 0);
}

const KNOWN = (Object.keys(IDS) as Api[]).flatMap((api) =>
  recordings({ api }).flatMap((recording) => read(api, recording) ?? []),
);
const WITH_TOOLS = KNOWN.filter(({ request }) => {
  const { tools, called } = layoutOf(request);
  return tools.length > 0 || called.size > 0;
});
const COUNTED = WITH_TOOLS.filter(({ usage, counted }) => counted && usageState(usage) !== "absent");

/** Prices that no sum of tokens divides evenly. */
function ruleFor(id: string): PriceRule {
  const random = seededRandom(seedOf(id));
  const price = () => 1 + Math.floor(random() * 30_000_001);
  return {
    ...{ ref: id, provider: "vendor", model: "model", source: "test" },
    ...{ input: price(), output: price(), cacheRead: price(), cacheWrite: price() },
  };
}

function attributed({ id, request }: Known, usage: Usage) {
  const layout = layoutOf(request);
  const ledger = new ToolLedger();
  const rule = ruleFor(id);
  const charge = chargeOf({ reach: "sent", usage }, rule);
  const { tools, bytes, errors } = layout;
  const results = [...resultsIn(layout, bytes, usage)];
  const costs = { tools, bytes, results, errors: [...errors], calls: [], isUnread: false };
  ledger.add(costs, { usage, charge, rule, before: 0, at: 1 });
  const rows = [...ledger.rows.values()];
  const tokens = rows.reduce((sum, one) => sum + sumOf(one.definition) + sumOf(one.result), 0);
  const cost = rows.reduce((sum, one) => sum + sumOf(one.definitionCost) + sumOf(one.resultCost), 0);
  const { rest } = ledger;
  const parts = rows.flatMap(({ definition, result, definitionCost, resultCost }) => [
    ...[definition, result, definitionCost, resultCost].flatMap((one) => Object.values(one) as number[]),
  ]);
  parts.push(...Object.values(rest.tokens), ...Object.values(rest.cost), rest.other);
  return {
    tokens: tokens + sumOf(rest.tokens),
    cost: cost + sumOf(rest.cost) + rest.other,
    ...{ parts, charge, rows, rest },
  };
}

describe.skipIf(!haveRecordings)("recorded calls", () => {
  test("at least 300 calls with tools have counts of their vendors", () => {
    expect(COUNTED.length).toBeGreaterThanOrEqual(300);
  });

  test("the tokens of all tools and of the rest are the vendor's count", () => {
    const wrong = COUNTED.filter((known) => attributed(known, known.usage).tokens !== known.counted);
    expect(wrong.map(({ id, counted, usage }) => ({ id, counted, usage }))).toEqual([]);
  });

  test("the money of all tools and of the rest is the charge, to the nano-dollar, and no part is negative", () => {
    for (const known of COUNTED) {
      const { cost, charge, parts } = attributed(known, known.usage);
      expect([known.id, cost]).toEqual([known.id, charge.cost]);
      expect(parts.filter((part) => part < 0 || !Number.isSafeInteger(part))).toEqual([]);
    }
  });

  test("without a count the sum is within 2 % of weir's estimate", () => {
    for (const known of WITH_TOOLS) {
      const estimate = estimateTokens(known.request);
      const { tokens } = attributed(known, { ...NO_USAGE, input: estimate });
      expect(Math.abs(tokens - estimate)).toBeLessThanOrEqual(0.02 * estimate);
    }
  });

  test("a part of the prompt that a cache had is divided too: definitions are read first", () => {
    for (const known of COUNTED) {
      const total = known.counted!;
      const half = {
        ...NO_USAGE,
        cacheRead: Math.floor(total / 2),
        cacheWrite: Math.floor(total / 4),
        output: 5,
      };
      const usage = { ...half, input: total - half.cacheRead - half.cacheWrite };
      const { tokens, cost, charge, rows, rest } = attributed(known, usage);
      expect([tokens, cost]).toEqual([total, charge.cost]);
      const read = rows.reduce((sum, one) => sum + one.definition.read + one.result.read, rest.tokens.read);
      expect(read).toBe(half.cacheRead);
      const definitions = rows.reduce((sum, one) => sum + sumOf(one.definition), 0);
      const ofRead = rows.reduce((sum, one) => sum + one.definition.read, 0);
      expect(ofRead).toBe(Math.min(definitions, half.cacheRead));
    }
  });

  test("a tape has the same tools, results and calls as the request", () => {
    for (const { id, request } of WITH_TOOLS) {
      const layout = layoutOf(request);
      const taped = layoutOfLines(meaningOf(request, (text) => text).lines);
      const of = ({ tools, called, results, errors }: typeof layout) => ({
        ...{ id, tools: tools.map(({ name }) => name).sort(), called: [...called].sort() },
        ...{ results: results.map(({ tool }) => tool).sort(), errors: [...errors].sort() },
      });
      expect(of(taped)).toEqual(of(layout));
    }
  });
});

test.skipIf(haveRecordings)(NO_RECORDINGS, () => {});
