/** Holds an answer until it is whole, and lets it go on as it came if it matches its schemas. */
import type { ChatRequest } from "../../../core/chat.ts";
import { GatewayError } from "../../../core/error.ts";
import type { ChatEvent } from "../../../core/events.ts";
import type { LossCode } from "../../../core/loss.ts";
import type { Opened } from "../../../gateway/lanes/lane.ts";
import type { Edited, Entry } from "../../../gateway/seams.ts";
import type { Guard } from "../guard.ts";
import type { Passing } from "../pass/passing.ts";
import { contextOf, writtenAnswer } from "../pass/refusal.ts";
import { WrittenSource } from "../../../gateway/delivery/written-source.ts";
import { escaped } from "../replace/edits.ts";
import { Tokens } from "../replace/restore.ts";
import { BlockedError } from "../verdicts.ts";
import { collected, eventsOf } from "./collected.ts";
import { inWords, type Mismatch, saidBy, Wanted } from "./said.ts";

interface Shaping {
  readonly entry: Entry;
  /** The request as providers get it. */
  readonly edited: Edited | undefined;
  readonly passing: Passing;
  /** Guards with schemas. */
  readonly guards: readonly Guard[];
}

/** @throws GatewayError of a guard that blocks, and of an answer that breaks off */
export async function shapedAnswer(opened: Opened, shaping: Shaping): Promise<Opened> {
  const { entry, edited, guards } = shaping;
  const { call, format, registry } = entry;
  const spoken = registry.formats.get(format.id);
  const reader = spoken?.upstream?.codec ?? spoken?.client?.codec.reader;
  const request = requestOf(entry, edited);
  const wanted = request
    ? guards.map((guard) => ({ guard, schemas: new Wanted(guard.shape!, request) }))
    : [];
  const wanting = wanted.filter(({ schemas }) => !schemas.isEmpty);
  if (!reader || !request || wanting.length === 0 || opened.status !== 200) return opened;
  const bytes = opened.kind === "stream" ? await collected(opened.source) : Buffer.from(opened.body);
  if (opened.kind === "stream" && opened.source.error) throw opened.source.error;
  // The reader completes arguments that are cut; the client would get them as they came.
  let isCompleted = false;
  const context = {
    ...contextOf(call),
    reportLoss: (code: LossCode) => void (isCompleted ||= code === "repaired"),
  };
  const first = read(() => eventsOf(opened.kind, bytes, reader, context), wanting[0]!.guard);
  let events = isCompleted ? CUT : first;
  let isRepaired = false;
  for (const { guard, schemas } of wanting) {
    const passed = await judged({ guard, schemas, events, request }, shaping);
    if (!passed) continue;
    events = passed;
    isRepaired = true;
  }
  if (isRepaired && events !== CUT) return writtenAnswer(entry, events);
  return opened.kind === "stream" ? { ...opened, source: new WrittenSource(bytes) } : opened;
}

function requestOf({ call, format, body }: Entry, edited: Edited | undefined): ChatRequest | undefined {
  try {
    return format.client.codec.decodeRequest(edited?.body ?? body, contextOf(call));
  } catch {
    // What no codec can express has no schema that weir knows.
    return undefined;
  }
}

/** An answer whose arguments are no JSON. */
const CUT = "cut";
type Cut = typeof CUT;
const NO_JSON: Mismatch = {
  faults: [{ path: "a call of a tool", clause: "has arguments that are no valid JSON" }],
};

const isCut = (thrown: unknown) => thrown instanceof GatewayError && thrown.code === "invalid_tool_arguments";

/** @throws GatewayError for an answer that cannot be read */
function read(events: () => ChatEvent[], guard: Guard): ChatEvent[] | Cut {
  try {
    return events();
  } catch (thrown) {
    if (isCut(thrown)) return CUT;
    if (thrown instanceof GatewayError) throw thrown;
    throw new BlockedError(guard, "SCHEMA", undefined, "refused the answer: it cannot be read.");
  }
}

interface Judging {
  readonly guard: Guard;
  readonly schemas: Wanted;
  readonly events: readonly ChatEvent[] | Cut;
  readonly request: ChatRequest;
}

/** @returns the events of a second answer; undefined: the first one goes on */
async function judged(judging: Judging, shaping: Shaping): Promise<ChatEvent[] | undefined> {
  const { guard, schemas, events, request } = judging;
  const { map, verdicts } = shaping.passing;
  const tokens = new Tokens(map.values);
  const check = (all: readonly ChatEvent[] | Cut) => {
    const startedAt = performance.now();
    const found =
      all === CUT ? [NO_JSON] : schemas.check(saidBy(all), (json) => tokens.restore(json, escaped));
    verdicts.ran(guard, "output", performance.now() - startedAt);
    return found;
  };
  const note = (found: readonly Mismatch[], verdict?: "replaced") => {
    for (const { tool = "answer", faults } of found)
      verdicts.note(guard, "output", { kind: "SCHEMA", normal: tool }, placeOf(tool, faults), verdict);
  };
  const found = check(events);
  if (found.length === 0) return undefined;
  if (guard.action === "flag") {
    note(found);
    return undefined;
  }
  const again = guard.shape!.repair > 0 ? await repaired(found, events, request, shaping) : undefined;
  const left = again ? check(again) : found;
  note(left.length > 0 ? left : found, left.length > 0 ? undefined : "replaced");
  if (left.length === 0 && again !== CUT) return again;
  throw new BlockedError(guard, "SCHEMA", undefined, `refused the answer: ${inWords(left[0]!)}.`);
}

const placeOf = (tool: string, [first]: Mismatch["faults"]) => (first?.path ? `${tool}.${first.path}` : tool);

/** Most of what the model wrote that it reads again. Characters. */
const MOST_QUOTED = 20_000;
const MOST_FAULTS = 20;

/** Tells the model what is wrong, and asks it once more. @throws GatewayError as a call of the client would */
async function repaired(
  found: readonly Mismatch[],
  events: readonly ChatEvent[] | Cut,
  request: ChatRequest,
  { entry: { call } }: Shaping,
): Promise<ChatEvent[] | Cut | undefined> {
  if (!call.asker) return undefined;
  const { text, calls } = saidBy(events === CUT ? [] : events);
  const said = [...calls.map(({ name, input }) => `${name}: ${input}`), text].filter((one) => one !== "");
  const words = [
    `Your last answer was not accepted: ${found.map((one) => inWords(one, MOST_FAULTS)).join(". ")}.`,
    ...(said.length > 0 ? [`It was:\n${said.join("\n").slice(0, MOST_QUOTED)}`] : []),
    "Answer again, with the same intention, so that it matches the schema.",
  ];
  const turn = { role: "user", blocks: [{ type: "text", text: words.join("\n\n") }] } as const;
  const turns = [...request.turns, { ...turn, blocks: [...turn.blocks] }];
  const asked = { ...request, turns, model: call.routedModel ?? call.model };
  const again: ChatEvent[] = [];
  try {
    for await (const event of call.asker.stream(asked, call, call.stop)) again.push(event);
  } catch (thrown) {
    if (isCut(thrown)) return CUT;
    throw thrown;
  }
  return again;
}
