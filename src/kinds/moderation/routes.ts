/** The paths that clients ask for a moderation. */
import { Type } from "@sinclair/typebox";
import { invalidRequest } from "../../core/error.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import type { LeftOut } from "../../core/loss.ts";
import type { AnswerFacts, KindRoute } from "../../core/model-kind.ts";
import type { ModerationAnswer, ModerationInput, ModerationRequest } from "../../core/moderation.ts";
import { fault, missing } from "../../formats/shared/request-fault.ts";
import { anything, open, optional, toJson } from "../../formats/shared/schema.ts";
import { writeResult } from "./categories.ts";
import { places } from "./places.ts";

type Route = KindRoute<ModerationRequest, ModerationAnswer>;

/** Where the request names no model, as OpenAI's clients may. */
export const DEFAULT_MODEL = "omni-moderation-latest";

const PART = open({
  type: Type.String({ description: "`text` or `image_url`." }),
  text: optional(Type.String()),
  image_url: optional(open({ url: Type.String() })),
});

const ModerationsRequest = open({
  model: Type.Optional(Type.String({ default: DEFAULT_MODEL })),
  input: Type.Union([Type.String(), Type.Array(Type.String()), Type.Array(PART)]),
});

const TURN = open({ role: Type.String(), content: Type.Unknown() });
const ChatRequest = open({
  model: Type.String({ minLength: 1 }),
  input: Type.Union([Type.Array(TURN), Type.Array(Type.Array(TURN))]),
});

const ModerationsAnswer = open({
  id: Type.String(),
  model: Type.String(),
  results: Type.Array(
    open({
      flagged: Type.Boolean(),
      categories: anything(),
      category_scores: anything(),
      category_applied_input_types: anything(),
    }),
  ),
});

const isPart = (value: Json) => isObject(value) && typeof value["type"] === "string";

function checkModel(model: Json | undefined): void {
  if (model != null && (typeof model !== "string" || model === ""))
    throw fault("model", "the name of a model");
}

function checkInput(body: Json): asserts body is JsonObject {
  if (!isObject(body)) throw invalidRequest("The request body must be a JSON object.");
  checkModel(body["model"]);
  const { input } = body;
  if (input == null) throw missing("input");
  if (typeof input === "string") return;
  if (!Array.isArray(input) || input.length === 0)
    throw fault("input", "a text, a list of texts, or a list of parts");
  const hasParts = isPart(input[0]!);
  for (const [index, item] of input.entries()) {
    if (!hasParts) {
      if (typeof item !== "string") throw fault(`input[${index}]`, "a text");
      continue;
    }
    const part = isObject(item) ? item : {};
    const image = part["image_url"];
    const isText = part["type"] === "text" && typeof part["text"] === "string";
    const isImage = part["type"] === "image_url" && isObject(image) && typeof image["url"] === "string";
    if (!isText && !isImage) throw fault(`input[${index}]`, "a part with `text`, or with `image_url`");
  }
}

const ofText = (text: string): ModerationInput => ({ texts: [text], images: [] });

/** A list of parts is one input. */
function inputsOf(input: Json): ModerationInput[] {
  if (typeof input === "string") return [ofText(input)];
  const list = input as (string | JsonObject)[];
  if (typeof list[0] === "string") return (list as string[]).map(ofText);
  const parts = list as JsonObject[];
  const images = parts.flatMap(({ image_url: image }) => (isObject(image) ? [image["url"] as string] : []));
  return [{ texts: parts.flatMap(({ type, text }) => (type === "text" ? [text as string] : [])), images }];
}

function unknownMembers(body: JsonObject): LeftOut[] {
  return Object.keys(body)
    .filter((name) => name !== "model" && name !== "input" && body[name] !== null)
    .map((path) => ({ loss: "unknown", path }));
}

const modelOf = ({ model }: JsonObject) => (model ?? DEFAULT_MODEL) as string;

function decodeInput(body: JsonObject): ModerationRequest {
  const input = body["input"]!;
  const isList = Array.isArray(input) && typeof input[0] === "string";
  return {
    model: modelOf(body),
    dialect: "moderations",
    inputs: inputsOf(input),
    leftOut: unknownMembers(body),
    pathOf: (index) => (isList ? `input[${index}]` : "input"),
  };
}

function checkTurns(body: Json): asserts body is JsonObject {
  if (!isObject(body)) throw invalidRequest("The request body must be a JSON object.");
  if (body["model"] == null) throw missing("model");
  checkModel(body["model"]);
  const { input } = body;
  if (input == null) throw missing("input");
  if (!Array.isArray(input) || input.length === 0)
    throw fault("input", "a list of messages, or of conversations");
  for (const [index, turns] of (Array.isArray(input[0]) ? input : [input]).entries()) {
    const path = Array.isArray(input[0]) ? `input[${index}]` : "input";
    if (!Array.isArray(turns) || turns.length === 0) throw fault(path, "a list of messages");
    const wrong = turns.findIndex((turn) => !isObject(turn) || textIn(turn["content"]) === undefined);
    if (wrong >= 0) throw fault(`${path}[${wrong}]`, "a message with a text as `content`");
  }
}

/** The text of a message; undefined for content of another shape. */
function textIn(content: Json | undefined): string | undefined {
  if (typeof content === "string") return content;
  if (!Array.isArray(content) || !content.every((part) => isObject(part) && typeof part["text"] === "string"))
    return undefined;
  return content.map((part) => (part as JsonObject)["text"]).join("\n");
}

function decodeTurns(body: JsonObject): ModerationRequest {
  const input = body["input"] as Json[];
  const isList = Array.isArray(input[0]);
  const conversations = (isList ? input : [input]) as JsonObject[][];
  return {
    model: modelOf(body),
    dialect: "mistral-chat-moderations",
    inputs: conversations.map((conversation) => {
      const turns = conversation.map(({ role, content }) => ({
        role: typeof role === "string" ? role : "user",
        text: textIn(content)!,
      }));
      return { texts: turns.map(({ text }) => text), images: [], turns };
    }),
    leftOut: unknownMembers(body),
    pathOf: (index) => (isList ? `input[${index}]` : "input"),
  };
}

function writeAnswer({ results }: ModerationAnswer, _request: ModerationRequest, facts: AnswerFacts): string {
  return JSON.stringify({
    id: `modr-${facts.id.replace(/^req_/, "")}`,
    model: facts.model,
    results: results.map(writeResult),
  });
}

const SHAPES = { request: toJson(ModerationsRequest), answer: toJson(ModerationsAnswer) };

export const moderationRoutes: readonly Route[] = [
  {
    operation: "createModeration",
    summary: "Judge texts and images",
    description:
      "Which of the categories of a vendor a text or an image belongs to. Categories of other vendors keep their names.",
    path: "/v1/moderations",
    defaultModel: DEFAULT_MODEL,
    schemas: SHAPES,
    checkRequest: checkInput,
    decodeRequest: decodeInput,
    writeAnswer,
    places,
  },
  {
    operation: "createChatModeration",
    summary: "Judge conversations (Mistral)",
    description: "Which of the categories of a vendor the last message of a conversation belongs to.",
    path: "/v1/chat/moderations",
    schemas: { ...SHAPES, request: toJson(ChatRequest) },
    checkRequest: checkTurns,
    decodeRequest: decodeTurns,
    writeAnswer,
    places,
  },
];
