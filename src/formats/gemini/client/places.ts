/** Where the texts of Gemini's requests and answers, and of requests for embeddings, are. */
import type { Frame } from "../../../core/frame.ts";
import {
  ARGUMENTS,
  CALL_NAME,
  CALLED_NAME,
  DECLARATION,
  each,
  ID,
  MEDIA,
  NAME,
  NUMBER,
  OTHER,
  SEALED,
  TEXT,
  textPlaces,
  TOOL_NAME,
  WORD,
  type Level,
  type Rule,
} from "../../shared/text-places.ts";
import { toCamel } from "./spelling.ts";

const BLOB: Level = {
  members: { mimeType: WORD, displayName: { kind: "document" }, ...each(MEDIA, "data fileUri") },
};

/** A thought is signed: in a stream, its signature may come later. */
const PART: Level = {
  says: (read) =>
    read("thought") === true ? { kind: "reasoning", channel: "thought", fixed: "signed" } : undefined,
  members: {
    text: { piece: "text" },
    thought: NUMBER,
    thoughtSignature: SEALED,
    ...each(BLOB, "inlineData fileData"),
    functionCall: {
      members: { id: ID, name: CALL_NAME, ...each(ARGUMENTS, "args partialArgs"), willContinue: NUMBER },
    },
    functionResponse: {
      kind: "tool-result",
      members: {
        id: ID,
        name: CALLED_NAME,
        response: TEXT,
        parts: { members: { text: TEXT, ...each(BLOB, "inlineData fileData") } },
        scheduling: WORD,
        willContinue: NUMBER,
      },
    },
    ...each(OTHER, "partMetadata"),
    ...each(NUMBER, "videoMetadata"),
    mediaResolution: WORD,
    executableCode: { members: { id: ID, language: WORD, code: ARGUMENTS } },
    codeExecutionResult: { kind: "tool-result", members: { id: ID, outcome: WORD, output: TEXT } },
    toolCall: { members: { id: ID, toolType: WORD, args: ARGUMENTS } },
    toolResponse: { kind: "tool-result", members: { id: ID, toolType: WORD, response: TEXT } },
  },
};

const CONTENT: Level = {
  says: (read) => ({ role: String(read("role") ?? "user") }),
  members: { role: WORD, parts: PART },
};

const FUNCTION: Level = {
  kind: "declaration",
  members: {
    name: TOOL_NAME,
    ...each(TEXT, "description parameters parametersJsonSchema response responseJsonSchema"),
    behavior: WORD,
  },
};

const CONFIG: Level = {
  members: {
    ...each(
      NUMBER,
      `temperature topP topK candidateCount maxOutputTokens presencePenalty frequencyPenalty seed responseLogprobs
      logprobs audioTimestamp enableEnhancedCivicAnswers enableAffectiveDialog`,
    ),
    stopSequences: NAME,
    ...each(WORD, "responseMimeType responseModalities mediaResolution"),
    ...each(DECLARATION, "responseSchema responseJsonSchema"),
    thinkingConfig: { members: { thinkingLevel: WORD, ...each(NUMBER, "includeThoughts thinkingBudget") } },
    ...each(OTHER, "speechConfig imageConfig routingConfig modelSelectionConfig continuationToken"),
  },
};

const REQUEST: Level = {
  members: {
    ...each(ID, "model cachedContent"),
    contents: CONTENT,
    systemInstruction: { kind: "system", members: { role: WORD, parts: PART } },
    tools: {
      members: {
        functionDeclarations: FUNCTION,
        ...each(
          OTHER,
          `googleSearch googleSearchRetrieval codeExecution urlContext fileSearch googleMaps computerUse
          enterpriseWebSearch retrieval mcpServers`,
        ),
      },
    },
    toolConfig: {
      members: {
        functionCallingConfig: {
          members: { mode: WORD, allowedFunctionNames: CALLED_NAME, streamFunctionCallArguments: NUMBER },
        },
        retrievalConfig: OTHER,
        includeServerSideToolInvocations: NUMBER,
      },
    },
    generationConfig: CONFIG,
    safetySettings: WORD,
    labels: NAME,
    ...each(WORD, "serviceTier taskType"),
    modelArmorConfig: OTHER,
    ...each(NUMBER, "store stream outputDimensionality autoTruncate documentOcr audioTrackExtraction"),
    // Members of requests that count tokens, and of those for embeddings.
    get generateContentRequest(): Rule {
      return REQUEST;
    },
    get requests(): Rule {
      return REQUEST;
    },
    get config(): Rule {
      return REQUEST;
    },
    get embedContentConfig(): Rule {
      return REQUEST;
    },
    content: CONTENT,
    title: { kind: "document" },
  },
};

const CANDIDATE: Level = {
  says: (read) => ({ channel: String(read("index") ?? 0) }),
  members: {
    content: { members: { role: WORD, parts: PART } },
    ...each(WORD, "finishReason safetyRatings"),
    finishMessage: TEXT,
    ...each(
      { kind: "document" },
      "groundingMetadata citationMetadata urlContextMetadata groundingAttributions",
    ),
    logprobsResult: { kind: "logprobs" },
    ...each(NUMBER, "index tokenCount avgLogprobs"),
  },
};

const ANSWER: Level = {
  members: {
    candidates: CANDIDATE,
    ...each(ID, "modelVersion responseId createTime"),
    ...each(WORD, "usageMetadata modelStatus"),
    promptFeedback: { members: { ...each(WORD, "blockReason safetyRatings"), blockReasonMessage: TEXT } },
    error: { members: { ...each(WORD, "code status"), message: TEXT, details: OTHER } },
  },
};

function stopped(reason: string): Frame[] {
  const candidates = [{ index: 0, finishReason: "SAFETY", finishMessage: reason }];
  return [{ data: JSON.stringify({ candidates }) }];
}

export const places = textPlaces({ request: REQUEST, answer: ANSWER, stopped, spell: toCamel });
