/**
 * The schemas of the Gemini format. That of the request is used for validation, error messages and the OpenAPI document, the
 * others for the document. The request covers the fields whose shape weir relies on, and has the names of the others. Answers describe what weir writes; those of a provider that speaks this format reach the client as the provider wrote them.
 */
import { Type } from "@sinclair/typebox";
import { anything, count, open, optional, validatorCode } from "../shared/schema.ts";
import { DISPLAYED, MATCHED, MEDIA_TYPE, STOPPED, STORED, STREAMED } from "../shared/silent.ts";
import { lost, named, names, silent } from "../shared/vocabulary.ts";

const media = {
  mimeType: silent(MEDIA_TYPE, Type.String()),
  displayName: silent("a name for display, which documents keep as their title", Type.String()),
};
const Blob = open({ ...media, data: Type.String({ description: "Base64." }) });
const FileData = open({ ...media, fileUri: Type.String() });

/** `args` and `response` hold words of the client's tools. */
const FunctionCall = named(
  open({ id: optional(Type.String()), name: Type.String({ minLength: 1 }), args: optional(anything()) }),
  { lost: "partialArgs willContinue" },
);

const FunctionResponse = named(
  open({
    id: silent(MATCHED, Type.String()),
    name: silent(MATCHED, Type.String()),
    response: optional(anything()),
    parts: optional(Type.Array(names({ read: "text", inner: { inlineData: Blob, fileData: FileData } }))),
  }),
  { lost: "scheduling willContinue" },
);

const checkedPart = open({
  text: optional(Type.String()),
  thought: optional(Type.Boolean()),
  thoughtSignature: optional(Type.String()),
  inlineData: optional(Blob),
  fileData: optional(FileData),
  functionCall: optional(FunctionCall),
  functionResponse: optional(FunctionResponse),
});

const Parts = Type.Array(
  named(checkedPart, {
    read: "partMetadata videoMetadata mediaResolution",
    inner: {
      executableCode: names("id language code"),
      codeExecutionResult: names("id outcome output"),
      toolCall: names("id toolType args"),
      toolResponse: names("id toolType response"),
    },
  }),
);

const Turn = open({
  role: optional(
    Type.Union(
      ["user", "model", "function", "tool"].map((role) => Type.Literal(role)),
      { description: "Default: `user`." },
    ),
  ),
  parts: optional(Parts),
});

/** The schemas are objects with names of the client. */
const Declaration = named(
  open({
    name: Type.String({ minLength: 1 }),
    description: optional(Type.String()),
    parameters: optional(anything()),
    parametersJsonSchema: optional(anything()),
  }),
  { passed: true, lost: "response responseJsonSchema behavior" },
);

const Tool = named(open({ functionDeclarations: optional(Type.Array(Declaration)) }), {
  read: `googleSearch googleSearchRetrieval codeExecution urlContext fileSearch googleMaps computerUse enterpriseWebSearch
    retrieval mcpServers`,
  // Every other member is a tool that Google runs, which the codec reports.
  passed: true,
});

const CallingConfig = named(
  open({ mode: optional(Type.String()), allowedFunctionNames: optional(Type.Array(Type.String())) }),
  { passed: true, silent: { streamFunctionCallArguments: STREAMED } },
);

const ToolConfig = named(open({ functionCallingConfig: optional(CallingConfig) }), {
  read: "retrievalConfig",
  passed: true,
  silent: {
    includeServerSideToolInvocations: "shows the calls of Google's own tools; weir reports those tools",
  },
});

const checkedConfig = open({
  temperature: optional(Type.Number({ minimum: 0, maximum: 2 })),
  topP: optional(Type.Number({ minimum: 0, maximum: 1 })),
  topK: optional(Type.Number({ minimum: 0, maximum: 1_000_000 })),
  candidateCount: optional(Type.Integer({ minimum: 0 })),
  maxOutputTokens: optional(
    Type.Integer({ minimum: 1, description: "Maximum number of tokens to generate, including reasoning." }),
  ),
  stopSequences: silent(STOPPED, Type.Array(Type.String())),
  responseMimeType: optional(Type.String()),
  responseSchema: optional(anything()),
  responseJsonSchema: optional(anything()),
  thinkingConfig: optional(
    open({
      includeThoughts: silent(DISPLAYED, Type.Boolean()),
      thinkingBudget: optional(Type.Integer({ minimum: -1, maximum: 10_000_000 })),
      thinkingLevel: optional(Type.String()),
    }),
  ),
});

const GenerationConfig = named(checkedConfig, {
  read: `presencePenalty frequencyPenalty seed responseLogprobs responseModalities mediaResolution speechConfig imageConfig
    audioTimestamp routingConfig`,
  passed: true,
  lost: "logprobs modelSelectionConfig enableEnhancedCivicAnswers enableAffectiveDialog continuationToken",
});

const SystemInstruction = named(open({ parts: optional(Parts) }), {
  silent: { role: "a system instruction has no other role" },
});

const request = {
  contents: Type.Array(Turn, { minItems: 1, description: "The conversation in chronological order." }),
  systemInstruction: optional(SystemInstruction),
  tools: optional(Type.Array(Tool)),
  toolConfig: optional(ToolConfig),
  generationConfig: optional(GenerationConfig),
  safetySettings: lost(Type.Array(anything())),
  cachedContent: optional(Type.String()),
  labels: lost(anything()),
  serviceTier: optional(Type.String()),
};

const checked = open(request, {
  title: "GeminiRequest",
  description: "Members may also be in snake case, as in protobuf: `generation_config`.",
});

export const GeminiRequest = named(checked, {
  read: "model modelArmorConfig",
  passed: true,
  silent: { store: STORED, stream: STREAMED },
});

/** The validator of requests, as JavaScript. The bundler calls it as a macro and puts its result into the binary. */
export function requestValidatorCode(): string {
  return validatorCode(GeminiRequest);
}

export const GeminiCountRequest = open(
  {
    ...request,
    contents: Type.Optional(request.contents),
    generateContentRequest: optional(open({ contents: request.contents })),
  },
  { title: "GeminiCountRequest", description: "Needs `contents` or `generateContentRequest`." },
);

export const GeminiCount = open(
  { totalTokens: count({ description: "Counted by the provider, or estimated by weir." }) },
  { title: "GeminiCount" },
);

const AnswerPart = open({
  text: Type.Optional(Type.String()),
  thought: Type.Optional(Type.Boolean({ description: "The text is reasoning." })),
  thoughtSignature: Type.Optional(
    Type.String({ description: "Base64. Clients send it back with the part, unchanged." }),
  ),
  inlineData: Type.Optional(Blob),
  functionCall: Type.Optional(
    open({ id: Type.Optional(Type.String()), name: Type.String(), args: Type.Optional(anything()) }),
  ),
});

const Candidate = open({
  content: Type.Optional(open({ role: Type.Literal("model"), parts: Type.Array(AnswerPart) })),
  finishReason: Type.Optional(Type.String({ description: "`STOP`, `MAX_TOKENS`, `SAFETY` and others." })),
  finishMessage: Type.Optional(Type.String()),
  groundingMetadata: Type.Optional(anything()),
  index: Type.Optional(Type.Integer()),
});

const Usage = open({
  promptTokenCount: Type.Optional(count({ description: "Including tokens read from a cache." })),
  cachedContentTokenCount: Type.Optional(count()),
  candidatesTokenCount: Type.Optional(count({ description: "Without reasoning." })),
  thoughtsTokenCount: Type.Optional(count()),
  totalTokenCount: Type.Optional(count()),
});

const answer = {
  candidates: Type.Optional(Type.Array(Candidate)),
  modelVersion: Type.Optional(Type.String({ description: "The model as the client named it." })),
  responseId: Type.Optional(Type.String()),
};

export const GeminiAnswer = open({ ...answer, usageMetadata: Usage }, { title: "GeminiAnswer" });

export const GeminiEvent = open(
  { ...answer, usageMetadata: Type.Optional(Usage) },
  {
    title: "GeminiEvent",
    description: "One record. A complete stream ends with the only record that has a `finishReason`.",
  },
);

export const GeminiError = open(
  {
    error: open({
      code: Type.Integer({ description: "HTTP status." }),
      message: Type.String(),
      status: Type.String({ description: "`INVALID_ARGUMENT`, `RESOURCE_EXHAUSTED` and others." }),
      details: Type.Optional(
        Type.Array(open({ "@type": Type.String() }), {
          description:
            "An `ErrorInfo` has the code of weir as its `reason`; a `RetryInfo` has the time to wait.",
        }),
      ),
    }),
  },
  { title: "GeminiError" },
);
