/** How providers are asked for a moderation. */
import type { CodecContext } from "../../core/context.ts";
import { invalidRequest } from "../../core/error.ts";
import { parseWithNumbers } from "../../core/exact-json.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import type { KindUsage } from "../../core/kind.ts";
import type { KindDialect } from "../../core/model-kind.ts";
import type {
  ModerationAnswer,
  ModerationInput,
  ModerationRequest,
  ModerationResult,
} from "../../core/moderation.ts";
import type { Score } from "../../core/rerank.ts";
import { count } from "../../formats/shared/token-counts.ts";
import { decodeError } from "../../formats/shared/upstream-error.ts";
import { sizeOfInputs } from "./size.ts";

type Dialect = KindDialect<ModerationRequest, ModerationAnswer>;

/** The text of an input. @throws GatewayError for an image, which the dialect has no place for */
function textOf(
  input: ModerationInput,
  index: number,
  request: ModerationRequest,
  context: CodecContext,
): string {
  if (input.images.length > 0)
    throw invalidRequest(
      `The provider ${context.target.provider} judges texts, and this input has an image; send it to a model that judges images.`,
      request.pathOf(index),
      "unsupported_value",
    );
  return input.texts.join("\n");
}

/** One text alone, a list of texts, or the parts of one input. */
function inputFor(request: ModerationRequest): Json {
  const { inputs } = request;
  const [only] = inputs;
  if (inputs.length === 1 && only!.images.length > 0)
    return [
      ...only!.texts.map((text) => ({ type: "text", text })),
      ...only!.images.map((url) => ({ type: "image_url", image_url: { url } })),
    ];
  const texts = inputs.map(({ texts: own }) => own.join("\n"));
  return texts.length === 1 ? texts[0]! : texts;
}

/** A model of OpenAI judges texts without their speakers. */
function tellTurns({ inputs }: ModerationRequest, context: CodecContext): void {
  if (inputs.some(({ turns }) => turns !== undefined))
    context.reportLoss("converted", "input", "each conversation became one text without its speakers");
}

const isScore = (value: unknown): value is Score =>
  typeof value === "number" || (typeof value === "object" && value !== null && "rawJSON" in value);

function readResult(item: Json): ModerationResult | undefined {
  if (!isObject(item)) return undefined;
  const { flagged, categories, category_scores: scores, category_applied_input_types: applied } = item;
  if (!isObject(categories)) return undefined;
  const judged = Object.entries(categories);
  if (!judged.every(([, value]) => typeof value === "boolean" || value === null)) return undefined;
  const given = Object.entries(isObject(scores) ? scores : {}).filter(([, value]) => isScore(value));
  return {
    ...(typeof flagged === "boolean" && { flagged }),
    categories: Object.fromEntries(judged) as Record<string, boolean | null>,
    scores: Object.fromEntries(given) as unknown as Record<string, Score>,
    ...(isObject(applied) && { applied: applied as unknown as Record<string, string[]> }),
  };
}

function readAnswer(text: string): ModerationAnswer | undefined {
  let body: Json;
  try {
    body = parseWithNumbers(text);
  } catch {
    return undefined;
  }
  if (!isObject(body) || !Array.isArray(body["results"])) return undefined;
  const results = body["results"].map(readResult);
  if (results.includes(undefined)) return undefined;
  const usage = usageOf(body);
  const model = body["model"];
  return {
    results: results as ModerationResult[],
    ...(usage && { usage }),
    ...(typeof model === "string" && { model }),
  };
}

/** Mistral counts tokens, OpenAI does not. */
function usageOf({ usage }: JsonObject): KindUsage | undefined {
  const input = isObject(usage) ? (count(usage["prompt_tokens"]) ?? count(usage["total_tokens"])) : undefined;
  return input === undefined ? undefined : { input };
}

const HOST = {
  sizeOf: sizeOfInputs,
  charges: "tokens",
  readAnswer,
  decodeError,
  isErrorBody: ({ error, message, detail }: JsonObject) => (error ?? message ?? detail) !== undefined,
  requestHeaders: ["x-client-request-id"],
  answerHeaders: ["x-ratelimit-*", "openai-processing-ms", "retry-after", "retry-after-ms", "x-should-retry"],
} as const;

export const moderationDialects: readonly Dialect[] = [
  {
    ...HOST,
    id: "moderations",
    encodeRequest(request, context) {
      tellTurns(request, context);
      return { model: context.target.model, input: inputFor(request) };
    },
  },
  {
    ...HOST,
    id: "mistral-moderations",
    encodeRequest(request, context) {
      tellTurns(request, context);
      const texts = request.inputs.map((input, index) => textOf(input, index, request, context));
      return { model: context.target.model, input: texts };
    },
  },
  {
    ...HOST,
    id: "mistral-chat-moderations",
    encodeRequest(request, context) {
      const conversations = request.inputs.map((input, index) => {
        const text = textOf(input, index, request, context);
        return (input.turns ?? [{ role: "user", text }]).map((turn) => ({
          role: turn.role,
          content: turn.text,
        }));
      });
      return { model: context.target.model, input: conversations };
    },
  },
];
