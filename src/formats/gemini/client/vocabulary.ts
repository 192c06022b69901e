/** Member names of a request, by level. */
import { Vocabulary } from "../../shared/vocabulary.ts";

const Blob = new Vocabulary("mimeType data displayName");

/** `args` and `response` have no vocabulary: they hold words of the client's tools. */
const Part = new Vocabulary("text thought thoughtSignature partMetadata videoMetadata mediaResolution", {
  inlineData: Blob,
  fileData: new Vocabulary("mimeType fileUri displayName"),
  functionCall: new Vocabulary("id name args partialArgs willContinue"),
  functionResponse: new Vocabulary("id name response scheduling willContinue", {
    parts: new Vocabulary("text", {
      inlineData: Blob,
      fileData: new Vocabulary("mimeType fileUri displayName"),
    }),
  }),
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
      "name description parameters parametersJsonSchema response responseJsonSchema behavior",
    ),
  },
);

export const REQUEST = new Vocabulary(
  "safetySettings cachedContent labels serviceTier store modelArmorConfig",
  {
    contents: Content,
    systemInstruction: Content,
    tools: Tool,
    toolConfig: new Vocabulary("retrievalConfig includeServerSideToolInvocations", {
      functionCallingConfig: new Vocabulary("mode allowedFunctionNames streamFunctionCallArguments"),
    }),
    generationConfig: new Vocabulary(
      `temperature topP topK candidateCount maxOutputTokens stopSequences presencePenalty frequencyPenalty seed responseMimeType
    responseSchema responseJsonSchema responseLogprobs logprobs responseModalities mediaResolution speechConfig imageConfig
    audioTimestamp routingConfig modelSelectionConfig enableEnhancedCivicAnswers enableAffectiveDialog continuationToken`,
      { thinkingConfig: new Vocabulary("includeThoughts thinkingBudget thinkingLevel") },
    ),
  },
);
