/** Runs the tools that a model calls, turn by turn, until it answers without them. */
import type { Block, ChatRequest, Tool, ToolCallBlock, ToolResultBlock, Turn } from "../../../core/chat.ts";
import type { Call } from "../../../core/call.ts";
import type { CallView } from "../../../core/call-view.ts";
import { GatewayError, invalidRequest } from "../../../core/error.ts";
import type { ChatEvent, FinishKind, HostedStart, Usage } from "../../../core/events.ts";
import { NO_USAGE } from "../../../core/events.ts";
import { sha256 } from "../../../core/ids.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import { toolScreen } from "../../../core/tool-screen.ts";
import type { Bench } from "../bench.ts";
import type { Allowed } from "./history.ts";
import { eachInOrder } from "./in-order.ts";
import { marked } from "./marks.ts";
import { NOT_KEPT } from "./memory.ts";
import type { OnOffer } from "./offer.ts";
import type { PreparedRun } from "./prepare.ts";
import { type BlockEvent, Relay } from "./relay.ts";
import { failure, hostedResult, type Outcome } from "./results.ts";
import { runTool } from "./run-tool.ts";
import { RunStop, TimeIsOver } from "./run-stop.ts";
import { SameCalls } from "./same-calls.ts";
import { ModelTurn } from "./turn.ts";
import { addUsage } from "./usage.ts";

/** Limits of one answer. */
export interface RunLimits {
  readonly maxTurns: number;
  readonly maxCalls: number;
  readonly timeoutMs: number;
}

/** Why an answer ends although the model wants to call more tools. */
export type StopReason = "maxTurns" | "maxCalls" | "timeout" | "loop" | "errors";

/** Most calls of a turn that run at once. */
const AT_ONCE = 8;
/** So many calls in a row without a result of the tool end the answer. */
const MOST_FAILURES = 3;

/** What the loop runs for. */
export interface RunOf extends PreparedRun {
  readonly call: Call;
  readonly view: CallView;
  readonly request: ChatRequest;
  /** What the answer has words for. */
  readonly shows: readonly HostedStart["kind"][];
  /** Why an answer ends that could go on. */
  readonly unfinished: FinishKind;
  /** Keeps turns by the ids of the client's calls; absent if the client sends back all that ran. */
  readonly keep?: (calls: readonly string[], turns: readonly Turn[]) => Promise<void>;
}

/** Calls of one turn, with the request by which the user has allowed each. */
interface Planned {
  readonly block: ToolCallBlock;
  readonly offered: OnOffer | undefined;
  readonly request?: string;
}

export class Loop {
  readonly #bench: Bench;
  readonly #limits: RunLimits;
  readonly #of: RunOf;
  readonly #relay = new Relay();
  readonly #same = new SameCalls();
  readonly #clientNames: ReadonlySet<string>;
  /** Number of turns that the conversation had before. */
  readonly #before: number;
  /** The client's calls, by the ids of the model. */
  #marks: ReadonlyMap<string, string> = new Map();
  #stop!: RunStop;
  #usage: Usage | undefined;
  #begun = false;
  #ran = 0;
  #failures = 0;
  #ids = 0;
  #stopped: StopReason | undefined;

  constructor(bench: Bench, limits: RunLimits, of: RunOf) {
    this.#bench = bench;
    this.#limits = limits;
    this.#of = of;
    this.#before = of.history.turns.length;
    this.#clientNames = new Set(of.request.tools.map(({ name }) => name));
  }

  /** The tools that the model gets. */
  get tools(): readonly Tool[] {
    return this.#of.tools;
  }

  /** The answer. @throws GatewayError if a turn fails, or a budget does not permit it */
  async *events(): AsyncGenerator<ChatEvent> {
    const { call } = this.#of;
    this.#stop = new RunStop(call, this.#limits.timeoutMs);
    try {
      yield* this.#answer();
    } finally {
      this.#stop.close();
      // Each turn is a call with counts and costs of its own.
      if (call.attempt) call.attempt.usage = NO_USAGE;
    }
  }

  async *#answer(): AsyncGenerator<ChatEvent> {
    const { turns, allowed } = this.#of.history;
    let kind: FinishKind | undefined;
    try {
      if (allowed.length > 0) yield* this.#runAllowed(allowed);
      for (let count = 1; kind === undefined && this.#stopped === undefined; count++)
        kind = yield* this.#turn(turns, count);
    } catch (thrown) {
      if (!(thrown instanceof TimeIsOver) || !this.#begun) throw timeIsOver(thrown);
      this.#stopped = "timeout";
      yield* this.#relay.close("The time for the tools of this answer was over.");
    }
    if (this.#stopped !== undefined) this.#report(this.#stopped);
    this.#tell();
    const reason = { kind: this.#stopped === undefined ? kind! : this.#of.unfinished };
    yield { type: "message-end", reason, usage: this.#usage ?? NO_USAGE };
  }

  /** One turn of the model, and the tools that it calls. @returns why the answer ends; undefined if it goes on */
  async *#turn(turns: Turn[], count: number): AsyncGenerator<ChatEvent, FinishKind | undefined> {
    const turn = new ModelTurn((name) => this.#of.offer.byName.has(name) || !this.#clientNames.has(name));
    const held = yield* this.#read(turn, turns, count);
    this.#usage = addUsage(this.#usage, turn.usage);
    const kind = turn.finish?.kind ?? "stop";
    const isWhole = kind === "tool-calls" || kind === "stop";
    if (turn.own.length === 0 || !isWhole) {
      if (turn.callsClient) await this.#keep(turn, turns, []);
      yield* this.#release(held);
      return kind;
    }
    const { byName } = this.#of.offer;
    const planned = turn.own.map((block): Planned => ({ block, offered: byName.get(block.name) }));
    if (planned.filter((one) => this.#mustAsk(one)).length > 0) {
      yield* this.#release(held);
      yield* this.#askFirst(planned);
      return turn.callsClient ? "tool-calls" : "stop";
    }
    this.#stopped = this.#limitOf(planned.length, count);
    if (this.#stopped === undefined) {
      const results = yield* this.#run(planned);
      if (turn.callsClient) await this.#keep(turn, turns, results);
      turns.push(turn.said, { role: "user", blocks: results });
    }
    if (this.#stopped !== undefined || turn.callsClient) yield* this.#release(held);
    return turn.callsClient ? "tool-calls" : undefined;
  }

  /** Keeps what happened for the request with the results of the client. */
  async #keep(
    { said, others }: ModelTurn,
    turns: readonly Turn[],
    results: ToolResultBlock[],
  ): Promise<void> {
    const happened = turns.slice(this.#before);
    if (happened.length + results.length === 0) return;
    const last: Turn[] = results.length > 0 ? [said, { role: "user", blocks: results }] : [said];
    const marks = new Map(others.map((id) => [id, marked(id)]));
    try {
      await this.#of.keep?.([...marks.values()], [...happened, ...last]);
      this.#marks = marks;
    } catch {
      this.#of.call.attempt?.reportLoss("dropped", "tools.run.memory", NOT_KEPT);
    }
  }

  /** The event with the mark of a call of the client. */
  #marked(event: BlockEvent): BlockEvent {
    if (event.type !== "block-start" || event.block.type !== "tool-call") return event;
    const id = this.#marks.get(event.block.id);
    return id === undefined ? event : { ...event, block: { ...event.block, id } };
  }

  /** Passes on what the model says, but for the client's calls, whose ids may get a mark. @returns the events that wait until it is known whether the turn is the last one */
  async *#read(turn: ModelTurn, turns: Turn[], count: number): AsyncGenerator<ChatEvent, BlockEvent[]> {
    const held: BlockEvent[] = [];
    const isHeld = !this.#of.view.stream && !this.#shows("call");
    this.#relay.turn();
    for await (const event of this.#stop.each(this.#of.view.askStream(this.#asking(turns, count)))) {
      if (event.type === "message-start") yield* this.#begin(event.id, event.model);
      if (!turn.take(event) || !("index" in event)) continue;
      if (isHeld || (this.#of.keep && turn.isClients(event.index))) held.push(event);
      else yield this.#relay.pass(event);
    }
    return held;
  }

  *#release(held: readonly BlockEvent[]): Generator<ChatEvent> {
    for (const event of held) yield this.#relay.pass(this.#marked(event));
  }

  #asking(turns: Turn[], count: number) {
    const { request, view, tools, choice } = this.#of;
    // A model that must call a tool in each turn would never answer.
    const isForced = choice?.type === "required" || choice?.type === "tool";
    const later = choice?.type === "allowed" ? { ...choice, required: false } : isForced ? undefined : choice;
    const { toolChoice: _, ...rest } = request;
    const chosen = count === 1 ? choice : later;
    return {
      ...rest,
      model: view.model,
      turns: [...turns],
      tools,
      ...(chosen && { toolChoice: chosen }),
    };
  }

  *#begin(id: string, model: string): Generator<ChatEvent> {
    if (this.#begun) return;
    this.#begun = true;
    yield { type: "message-start", id, model };
    const { listed, offer } = this.#of;
    if (!this.#shows("list")) return;
    for (const { label, tools, error } of offer.lists) {
      if (listed.has(label)) continue;
      const start: HostedStart = {
        type: "hosted-tool",
        kind: "list",
        id: this.#id(),
        server: label,
        name: "",
      };
      yield* this.#relay.block(start, undefined, error === undefined ? { tools } : { error });
    }
  }

  async *#runAllowed(allowed: readonly Allowed[]): AsyncGenerator<ChatEvent> {
    if (allowed.length > this.#limits.maxCalls) throw tooManyAllowed(this.#limits);
    yield* this.#begin(this.#of.call.id, this.#of.call.model);
    const { byName } = this.#of.offer;
    const results = yield* this.#run(
      allowed.map(({ call, request }) => ({ block: call, offered: byName.get(call.name), request })),
    );
    for (const [index, { result }] of allowed.entries()) {
      const { blocks, error } = results[index]!;
      result.blocks = blocks;
      if (error) result.error = true;
      else delete result.error;
    }
  }

  /** Runs the calls of a turn. @returns their results, in their order */
  async *#run(planned: readonly Planned[]): AsyncGenerator<ChatEvent, ToolResultBlock[]> {
    const results: ToolResultBlock[] = [];
    const pending = eachInOrder(planned, AT_ONCE, (one) => this.#call(one));
    for (const [index, one] of planned.entries()) {
      const came = async () => {
        const outcome = await this.#stop.race(pending[index]!());
        results.push(resultOf(one.block, outcome));
        this.#judge(one.block, outcome);
        return hostedResult(outcome);
      };
      const start = this.#startOf(one, "call");
      if (this.#shows("call")) yield* this.#relay.running(start, inputText(one.block), came);
      else await came();
    }
    return results;
  }

  /** @throws GatewayError where a budget or a limit does not permit the call */
  async #call({ block, offered }: Planned): Promise<Outcome> {
    this.#ran++;
    if (!offered) return failure(`There is no tool ${block.name}.`);
    const input = parseJson(inputText(block));
    if (!isObject(input)) return { ...failure("The arguments are not an object of JSON."), isOwn: false };
    const { name, annotations } = offered.tool;
    const tool = { name, input, ...(annotations && { annotations }) };
    return runTool(this.#bench, this.#of.call, tool, this.#stop.signal);
  }

  /** @throws GatewayError where a part of weir holds the call back, and no user can be asked */
  #mustAsk({ block, offered }: Planned): boolean {
    const held = offered && toolScreen.get(this.#of.call)?.heldBack(block.name);
    if (held && !(held.mayAsk && this.#shows("approval"))) throw held.error;
    return held !== undefined || offered?.asksFirst === true;
  }

  *#askFirst(planned: readonly Planned[]): Generator<ChatEvent> {
    for (const one of planned) yield* this.#relay.block(this.#startOf(one, "approval"), inputText(one.block));
  }

  #startOf({ block, offered, request }: Planned, kind: "call" | "approval"): HostedStart {
    const server = offered?.label ?? "weir";
    const name = offered?.shown ?? block.name;
    const common = { type: "hosted-tool", kind, id: this.#id(), server, name } as const;
    return request === undefined ? common : { ...common, approval: request };
  }

  #judge(block: ToolCallBlock, outcome: Outcome): void {
    this.#failures = outcome.isOwn ? this.#failures + 1 : 0;
    const isLoop = this.#same.note(block.name, parseJson(inputText(block)) ?? null, outcome);
    if (this.#failures >= MOST_FAILURES) this.#stopped ??= "errors";
    if (isLoop) this.#stopped ??= "loop";
  }

  #limitOf(calls: number, turns: number): StopReason | undefined {
    if (turns >= this.#limits.maxTurns) return "maxTurns";
    return this.#ran + calls > this.#limits.maxCalls ? "maxCalls" : undefined;
  }

  #shows(kind: HostedStart["kind"]): boolean {
    return this.#of.shows.includes(kind);
  }

  #report(reason: StopReason): void {
    this.#of.call.attempt?.reportLoss("clamped", `tools.run.${reason}`, STOPS[reason]);
  }

  #tell(): void {
    const { call } = this.#of;
    if (!call.hasHead) (call.extraHeaders ??= {})["x-weir-tools-run"] = String(this.#ran);
  }

  /** Unique in a conversation, as the id of a call is. */
  #id(): string {
    return sha256(`${this.#of.call.id} ${this.#ids++}`).slice(0, 32);
  }
}

const STOPS: Readonly<Record<StopReason, string>> = {
  maxTurns: "the model called tools in every turn that it may have",
  maxCalls: "the model called more tools than it may",
  timeout: "the tools took longer than they may",
  loop: "the model called the same tool again and again, with the same arguments and result",
  errors: "three calls in a row had no result",
};

function inputText({ input }: Pick<ToolCallBlock, "input">): string {
  return input.trim() === "" ? "{}" : input;
}

function resultOf({ id }: ToolCallBlock, { blocks, isError }: Outcome): ToolResultBlock {
  const content: Block[] = blocks.length > 0 ? blocks : [{ type: "text", text: "" }];
  return { type: "tool-result", id, blocks: content, ...(isError && { error: true }) };
}

function tooManyAllowed({ maxCalls }: RunLimits): GatewayError {
  return invalidRequest(
    `The request allows more than ${maxCalls} calls at once, which is the most that weir runs.`,
  );
}

/** The error of an answer that has not begun when its time is over. */
function timeIsOver(thrown: unknown): unknown {
  if (!(thrown instanceof TimeIsOver)) return thrown;
  return new GatewayError(
    "timeout",
    "The model did not begin to answer before the time for its tools was over.",
    {
      code: "timeout",
    },
  );
}
