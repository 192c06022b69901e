/** Encodes turns of the assistant as the parts of one content, with thought signatures at their places. */
import type { Block, ReasoningBlock, ToolCallBlock } from "../../../core/chat.ts";
import type { JsonObject } from "../../../core/json.ts";
import { blockPath } from "../../shared/paths.ts";
import { readToolInput } from "../../shared/tool-input.ts";
import type { PlacedTurn } from "../../shared/turn-groups.ts";
import { FORMAT } from "../own-fields.ts";
import { encryptedPart, isOwn, SENTINEL } from "../reasoning.ts";
import { idMember } from "./call-ids.ts";
import { encodeBlock, type EncodeContext } from "./content.ts";

/** @param ids ids of the calls, unique in the request */
export function encodeAssistant(
  turns: readonly PlacedTurn[],
  ids: ReadonlyMap<ToolCallBlock, string>,
  context: EncodeContext,
): JsonObject[] {
  const writer = new PartWriter(lastPlaces(turns), context);
  for (const { turn, path } of turns) {
    for (const block of turn.blocks) writer.write(block, blockPath(block, path), ids);
    writer.endTurn();
  }
  return context.facts.signsCalls ? signFirstCall(writer.parts, writer.firstCallPath, context) : writer.parts;
}

/** Clients of some formats send a signature twice; its last place is that of the call. */
function lastPlaces(turns: readonly PlacedTurn[]): ReadonlyMap<string, Block> {
  const places = new Map<string, Block>();
  for (const { turn } of turns)
    for (const block of turn.blocks)
      if (block.type === "reasoning" && block.signature !== undefined) places.set(block.signature, block);
  return places;
}

class PartWriter {
  readonly parts: JsonObject[] = [];
  firstCallPath: string | undefined;
  readonly #places: ReadonlyMap<string, Block>;
  readonly #context: EncodeContext;
  /** The signature of the next part. */
  #signature: string | undefined;

  constructor(places: ReadonlyMap<string, Block>, context: EncodeContext) {
    this.#places = places;
    this.#context = context;
  }

  write(block: Block, path: string, ids: ReadonlyMap<ToolCallBlock, string>): void {
    if (block.type === "reasoning") return this.#writeReasoning(block, path);
    if (block.type === "tool-call") {
      this.firstCallPath ??= path;
      return this.#push(encodeCall(block, ids.get(block) ?? block.id, path, this.#context));
    }
    // Blank text goes back only if Google signed it.
    if (block.type === "text" && this.#signature !== undefined && block.text !== "")
      return this.#push({ text: block.text });
    for (const part of this.#partsOf(block, path)) this.#push(part);
  }

  /** A signature that no part follows is on an empty one. */
  endTurn(): void {
    if (this.#signature !== undefined) this.#push({ text: "" });
  }

  #partsOf(block: Block, path: string): JsonObject[] {
    if (block.type !== "foreign" || block.text !== undefined || block.instead || block.format === FORMAT)
      return encodeBlock(block, path, this.#context);
    this.#context.reportLoss("dropped", path, "the format has no such content block");
    return [];
  }

  #push(part: JsonObject): void {
    const signature = this.#signature;
    this.#signature = undefined;
    this.parts.push(
      signature === undefined || part.thoughtSignature !== undefined
        ? part
        : { ...part, thoughtSignature: signature },
    );
  }

  #writeReasoning(block: ReasoningBlock, path: string): void {
    const { text, signature, redacted } = block;
    if (!isOwn(block)) {
      if (text || signature || redacted)
        this.#context.reportLoss("dropped", path, "only reasoning that Google signed can be sent back");
      return;
    }
    const isHere = signature !== undefined && this.#places.get(signature) === block;
    if (text === "" && redacted === undefined && !isHere) return;
    this.endTurn();
    if (text !== "") this.parts.push({ text, thought: true });
    if (redacted !== undefined) this.parts.push(encryptedPart(redacted));
    if (isHere) this.#signature = signature;
  }
}

function encodeCall(block: ToolCallBlock, id: string, path: string, context: EncodeContext): JsonObject {
  const { names, traits, reportLoss } = context;
  return {
    functionCall: {
      ...idMember(block.id, id, traits),
      name: names.send(block.name),
      args: readArguments(block, path, reportLoss),
    },
  };
}

function readArguments(
  { kind, input, inputPath }: ToolCallBlock,
  path: string,
  reportLoss: EncodeContext["reportLoss"],
): JsonObject {
  if (kind === "custom") return { input };
  const { value, repair } = readToolInput(input);
  if (repair !== undefined) reportLoss("repaired", inputPath ?? path, repair);
  return value;
}

/**
 * Gemini 3 refuses a first call without a signature. Clients of some formats put all reasoning in front, so that the call's
 * signature is on the text before it; if there is none, Google's own placeholder takes its place. Further calls of the
 * set have none.
 */
function signFirstCall(
  parts: JsonObject[],
  path: string | undefined,
  { reportLoss }: EncodeContext,
): JsonObject[] {
  const first = parts.findIndex((part) => part.functionCall !== undefined);
  const call = parts[first];
  if (!call || call.thoughtSignature !== undefined) return parts;
  const holder = parts.findLastIndex(
    (part, at) => at < first && typeof part.text === "string" && part.thoughtSignature !== undefined,
  );
  const held = parts[holder];
  if (!held) reportLoss("synthesized", path ?? "", "the signature of the call is missing");
  const { thoughtSignature = SENTINEL, ...unsigned } = held ?? {};
  return parts.flatMap((part, at) => {
    if (at === first) return [{ ...call, thoughtSignature }];
    if (at !== holder) return [part];
    return unsigned.text === "" ? [] : [unsigned];
  });
}
