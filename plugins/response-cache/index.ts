/**
 * Answers a request from memory if one of the same meaning was answered before: of the same caller, without a provider and
 * for free. The section `cache` of the config turns it on. A first answer streams as usual while it is recorded.
 */
import {
  type CallView,
  type ChatEvent,
  type ChatRequest,
  type ConfiguredPlugin,
  definePlugin,
  globMatches,
  type Interception,
} from "weir";
import { type Answer, Entries } from "./entries.ts";
import { digestOf } from "./meaning.ts";

export interface ResponseCacheOptions {
  /** Names of the gateway keys whose calls may use the cache; a `*` stands for any text. */
  keys: readonly string[];
  /** A call must ask with `x-weir-cache: use`. False: every call of the keys uses the cache. */
  header: boolean;
  /** Names of tools without side effects; a `*` stands for any text. Requests with other tools are not cached. */
  tools: readonly string[];
  /** Requests with a higher temperature are not cached, nor those without one, which get the provider's default. */
  maxTemperature: number | "any";
  ttlMs: number;
  /** Memory for answers. */
  bytes: number;
}

const HEADER = "x-weir-cache";

/** The hooks of a cache with its own memory. */
export function responseCache(options: ResponseCacheOptions): ConfiguredPlugin {
  let generation = 0;
  const entries = new Entries(options);
  const { keys, tools } = options;
  const matches = (patterns: readonly string[], name: string) =>
    patterns.some((pattern) => globMatches(pattern, name));

  function intercept(call: CallView): Interception | undefined {
    const wish = call.headers.get(HEADER);
    const asks = wish === "use" || wish === "refresh";
    if (wish === "no" || (options.header && !asks)) return undefined;
    if (!matches(keys, call.key ?? "")) {
      if (asks) call.addHeader(HEADER, "bypass; key");
      return undefined;
    }
    const { request } = call;
    const reason = bypassOf(request);
    if (!request || reason !== undefined) {
      call.addHeader(HEADER, `bypass; ${reason}`);
      return undefined;
    }
    const digest = `${generation} ${digestOf(call, request)}`;
    const known = wish === "refresh" ? undefined : knownTo(call, entries.get(digest));
    call.addHeader(HEADER, known ? "hit" : wish === "refresh" ? "refresh" : "miss");
    if (known) return { answer: replayed(known, call) };
    return {
      edit: (events, view) =>
        recorded(events, view, (answer) => entries.set(digest, answer), entries.largest),
    };
  }

  /** Why a request cannot be cached; undefined if it can. */
  function bypassOf(request: ChatRequest | undefined): string | undefined {
    if (!request || hasOwnFields(request)) return "fields";
    const { temperature = Infinity } = request;
    if (options.maxTemperature !== "any" && temperature > options.maxTemperature) return "temperature";
    const acts = request.tools.some(({ kind, name }) => kind === "foreign" || !matches(tools, name));
    return acts ? "tools" : undefined;
  }

  return { hooks: { intercept }, modelsChanged: () => void generation++ };
}

/** Texts, each of which may contain `*`. */
const patterns = (description: string) => ({
  ...{ type: "array", items: { type: "string" }, default: [] },
  description,
});

export default definePlugin({
  name: "response-cache",
  section: {
    schema: {
      type: "object",
      properties: {
        keys: patterns(
          "Names of the gateway keys whose calls may be answered from the cache. Empty: there is no cache.",
        ),
        header: {
          ...{ type: "boolean", default: true },
          description: "Whether a call must ask for the cache with `x-weir-cache: use`.",
        },
        tools: patterns("Names of tools without side effects."),
        maxTemperature: {
          ...{ anyOf: [{ type: "number", minimum: 0, maximum: 2 }, { enum: ["any"] }], default: 0 },
          description:
            "A request with a higher temperature, or without one, is not cached. `any`: every request.",
        },
        ttlMs: {
          type: "integer",
          minimum: 1,
          maximum: 86_400_000,
          default: 3_600_000,
          description: "How long an answer is kept.",
        },
        bytes: {
          ...{ type: "integer", minimum: 65_536, maximum: 17_179_869_184, default: 67_108_864 },
          description: "Memory for answers in each process, in bytes.",
        },
      },
    },
    configure(options) {
      const settings = options as unknown as ResponseCacheOptions;
      return settings.keys.length > 0 ? responseCache(settings) : undefined;
    },
  },
});

/** Whether a request has fields whose answer has parts that only its own format can carry, such as log probabilities. */
function hasOwnFields({ extra, ownFields = {} }: ChatRequest): boolean {
  return Object.entries(extra).some(([format, fields]) =>
    Object.entries(fields).some(([name, value]) => {
      const field = ownFields[format]?.[name];
      if (!field || value === undefined) return false;
      return field.refuse?.(value) === true || (field.means === undefined && field.report?.(value) === true);
    }),
  );
}

/** Passes the events of an answer on, and keeps them once the answer is complete. @param largest bytes, about */
async function* recorded(
  events: AsyncIterable<ChatEvent>,
  view: CallView,
  keep: (answer: Answer) => void,
  largest: number,
): AsyncGenerator<ChatEvent> {
  const list: ChatEvent[] = [];
  const { format } = view;
  let size = 0;
  for await (const event of events) {
    size += event.type === "block-delta" ? event.delta.length : 1;
    if (size <= largest) list.push(event);
    const isComplete = event.type === "message-end" && size <= largest && isUsual(view) && isWhole(event);
    if (isComplete) keep({ events: list, losses: view.losses, format });
    yield event;
  }
}

/** Another model or deployment than usual answers only for now. */
function isUsual({ attempt, skipped, losses }: CallView): boolean {
  return attempt === 1 && skipped.length === 0 && !losses.some(({ code }) => code === "substituted");
}

/** The model has ended by itself: no limit of tokens and no filter has cut the answer off. */
function isWhole({ reason }: Extract<ChatEvent, { type: "message-end" }>): boolean {
  return ["stop", "stop-sequence", "tool-calls"].includes(reason.kind);
}

/** Losses name the fields of one format: a client of another one could not read them. */
function knownTo({ format }: CallView, answer: Answer | undefined): Answer | undefined {
  return answer && (answer.losses.length === 0 || answer.format === format) ? answer : undefined;
}

function replayed({ events, losses }: Answer, call: CallView): ChatEvent[] {
  for (const { code, path, note } of losses) call.reportLoss(code, path, note);
  return events.map((event) => (event.type === "message-start" ? { ...event, id: call.id } : event));
}
