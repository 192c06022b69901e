/** Member names of a request, by level, and what becomes of those that weir does not read. */
import { DISPLAYED, MATCHED, MEDIA_TYPE, STOPPED, STORED, STREAMED } from "../../shared/silent.ts";
import { Vocabulary } from "../../shared/vocabulary.ts";

const TYPED = {
  silent: { mimeType: MEDIA_TYPE, displayName: "a name for display, which documents keep as their title" },
};
const Blob = new Vocabulary("data", {}, TYPED);
const File = new Vocabulary("fileUri", {}, TYPED);

/** `args` and `response` have no vocabulary: they hold words of the client's tools. */
const Part = new Vocabulary("text thought thoughtSignature partMetadata videoMetadata mediaResolution", {
  inlineData: Blob,
  fileData: File,
  functionCall: new Vocabulary("id name args", {}, { lost: "partialArgs willContinue" }),
  functionResponse: new Vocabulary(
    "response",
    { parts: new Vocabulary("text", { inlineData: Blob, fileData: File }) },
    { lost: "scheduling willContinue", silent: { id: MATCHED, name: MATCHED } },
  ),
  executableCode: new Vocabulary("id language code"),
  codeExecutionResult: new Vocabulary("id outcome output"),
  toolCall: new Vocabulary("id toolType args"),
  toolResponse: new Vocabulary("id toolType response"),
});

const Content = new Vocabulary("role", { parts: Part });

/** The schemas have no vocabulary: the names in them are the client's. */
const Tool = new Vocabulary(
  `googleSearch googleSearchRetrieval codeExecution urlContext fileSearch googleMaps computerUse enterpriseWebSearch
  retrieval mcpServers`,
  {
    functionDeclarations: new Vocabulary(
      "name description parameters parametersJsonSchema",
      {},
      { passed: true, lost: "response responseJsonSchema behavior" },
    ),
  },
  // Every other member is a tool that Google runs, which the codec reports.
  { passed: true },
);

export const REQUEST = new Vocabulary(
  "model cachedContent serviceTier modelArmorConfig",
  {
    contents: Content,
    systemInstruction: new Vocabulary(
      "",
      { parts: Part },
      { silent: { role: "a system instruction has no other role" } },
    ),
    tools: Tool,
    toolConfig: new Vocabulary(
      "retrievalConfig",
      {
        functionCallingConfig: new Vocabulary(
          "mode allowedFunctionNames",
          {},
          { passed: true, silent: { streamFunctionCallArguments: STREAMED } },
        ),
      },
      {
        passed: true,
        silent: {
          includeServerSideToolInvocations: "shows the calls of Google's own tools; weir reports those tools",
        },
      },
    ),
    generationConfig: new Vocabulary(
      `temperature topP topK candidateCount maxOutputTokens presencePenalty frequencyPenalty seed responseMimeType
    responseSchema responseJsonSchema responseLogprobs responseModalities mediaResolution speechConfig imageConfig
    audioTimestamp routingConfig`,
      {
        thinkingConfig: new Vocabulary(
          "thinkingBudget thinkingLevel",
          {},
          { silent: { includeThoughts: DISPLAYED } },
        ),
      },
      {
        passed: true,
        silent: { stopSequences: STOPPED },
        lost: `logprobs modelSelectionConfig enableEnhancedCivicAnswers enableAffectiveDialog continuationToken`,
      },
    ),
  },
  { passed: true, lost: "safetySettings labels", silent: { store: STORED, stream: STREAMED } },
);
