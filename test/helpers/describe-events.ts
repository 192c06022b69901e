/**
 * What every source of events promises (`src/core/events.ts`), as one assertion: decoders, hooks and providers that generate
 * are all held to it.
 */
import type { BlockStart, ChatEvent, Usage } from "../../src/core/events.ts";

type BlockType = BlockStart["type"];

/**
 * Holds a complete run of events to all promises.
 * @throws Error with the number of the event that breaks one.
 */
export function checkEvents(events: readonly ChatEvent[]): void {
  const checker = new EventChecker();
  for (const event of events) checker.read(event);
  checker.finish();
}

/**
 * Holds the beginning of a run to them: what came before the source threw. Nothing may be missing but the end.
 * @throws Error with the number of the event that breaks one.
 */
export function checkBrokenEvents(events: readonly ChatEvent[]): void {
  const checker = new EventChecker();
  for (const event of events) checker.read(event);
  if (checker.ended) throw new Error("The events end with message-end although their source broke off.");
}

/** The text of all blocks of a type, joined. */
export function textOf(events: readonly ChatEvent[], type: BlockType = "text"): string {
  const wanted = new Set(
    events.flatMap((event) =>
      event.type === "block-start" && event.block.type === type ? [event.index] : [],
    ),
  );
  return events
    .map((event) => (event.type === "block-delta" && wanted.has(event.index) ? event.delta : ""))
    .join("");
}

class EventChecker {
  ended = false;
  #number = -1;
  #started = false;
  #nextIndex = 0;
  readonly #open = new Map<number, BlockType>();
  readonly #callIds = new Set<string>();

  read(event: ChatEvent): void {
    this.#number++;
    if (this.ended) this.#fail("comes after message-end", event);
    if (event.type === "message-start") return this.#start(event);
    if (!this.#started) this.#fail("comes before message-start", event);
    switch (event.type) {
      case "block-start":
        return this.#startBlock(event);
      case "block-delta":
        return this.#delta(event);
      case "citation":
        if (this.#typeOf(event) !== "text") this.#fail("is about a block that is no text", event);
        return;
      case "block-end":
        return this.#endBlock(event);
      case "usage":
        return this.#checkNumbers(event.usage, event);
      case "message-end":
        return this.#end(event);
    }
  }

  finish(): void {
    if (!this.ended) throw new Error(`The ${this.#number + 1} events do not end with message-end.`);
  }

  #start(event: ChatEvent & { type: "message-start" }): void {
    if (this.#started) this.#fail("is the second start", event);
    if (event.id === "") this.#fail("has no id", event);
    if (event.model === "") this.#fail("has no model", event);
    if (event.usage) this.#checkNumbers(event.usage, event);
    this.#started = true;
  }

  #startBlock(event: ChatEvent & { type: "block-start" }): void {
    if (event.index !== this.#nextIndex) this.#fail(`should have index ${this.#nextIndex}`, event);
    this.#nextIndex++;
    const others = [...this.#open.values()];
    if (others.some((other) => other !== "tool-call" || event.block.type !== "tool-call"))
      this.#fail("overlaps with a block, and only tool calls may", event);
    if (event.block.type === "tool-call") this.#checkCall(event.block, event);
    this.#open.set(event.index, event.block.type);
  }

  #checkCall(call: BlockStart & { type: "tool-call" }, event: ChatEvent): void {
    if (call.name === "") this.#fail("calls a tool without a name", event);
    if (call.id === "" || this.#callIds.has(call.id)) this.#fail("needs an id of its own", event);
    this.#callIds.add(call.id);
  }

  #delta(event: ChatEvent & { type: "block-delta" }): void {
    const type = this.#typeOf(event);
    if (type === "foreign" || type === "image")
      this.#fail("adds to a block that is whole from its start", event);
  }

  #endBlock(event: ChatEvent & { type: "block-end" }): void {
    const type = this.#typeOf(event);
    if (event.signature !== undefined && type !== "reasoning")
      this.#fail("signs a block that is no reasoning", event);
    this.#open.delete(event.index);
  }

  #end(event: ChatEvent & { type: "message-end" }): void {
    if (this.#open.size > 0) this.#fail(`leaves block ${[...this.#open.keys()].join(", ")} open`, event);
    if (event.reason.stopSequence !== undefined && event.reason.kind !== "stop-sequence")
      this.#fail("names a stop sequence although none ended the answer", event);
    this.#checkNumbers(event.usage, event);
    if (event.usage.reasoning > event.usage.output) this.#fail("counts more reasoning than output", event);
    this.ended = true;
  }

  #typeOf(event: ChatEvent & { index: number }): BlockType {
    return this.#open.get(event.index) ?? this.#fail("is about a block that is not open", event);
  }

  #checkNumbers(usage: Partial<Usage>, event: ChatEvent): void {
    for (const [name, count] of Object.entries(usage))
      if (typeof count === "number" && (!Number.isInteger(count) || count < 0))
        this.#fail(`counts ${count} tokens as ${name}`, event);
  }

  #fail(what: string, event: ChatEvent): never {
    throw new Error(`Event ${this.#number} ${what}: ${JSON.stringify(event)}`);
  }
}
