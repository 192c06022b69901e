/** The dialect of Amazon Nova over InvokeModel: one text for each request, the model in the URL. */
import type { EmbedDialect } from "../core/embed-dialect.ts";
import { isObject } from "../core/json.ts";
import { decodeAwsError } from "../formats/shared/aws-error.ts";
import { tokensInHeader } from "./bedrock-header.ts";
import type { OptionNames, PurposeWords } from "./options.ts";
import { dropExtra, encodeOptions } from "./options.ts";
import { vector, vectorsOf } from "./vectors.ts";

const NAMES: OptionNames = { dimensions: "embeddingDimension", inputType: "embeddingPurpose", user: false };

const WORDS: PurposeWords = {
  query: "GENERIC_RETRIEVAL",
  document: "GENERIC_INDEX",
  classification: "CLASSIFICATION",
  clustering: "CLUSTERING",
};

export const novaEmbeddings: EmbedDialect = {
  id: "nova-embed",
  maxInputs: 1,
  encodeRequest(request, endpoint, context) {
    dropExtra(request, context);
    return {
      taskType: "SINGLE_EMBEDDING",
      singleEmbeddingParams: {
        embeddingPurpose: "GENERIC_INDEX",
        ...encodeOptions(request, endpoint, context, NAMES, WORDS),
        // `END` would cut a text that is too long, and say nothing.
        text: { truncationMode: "NONE", value: request.inputs[0] as string },
      },
    };
  },
  readAnswer({ embeddings }, headers) {
    const vectors = vectorsOf(embeddings, (item) => (isObject(item) ? vector(item.embedding) : undefined));
    const input = tokensInHeader(headers);
    return vectors && { vectors, ...(input !== undefined && { usage: { input } }) };
  },
  decodeError: decodeAwsError,
  requestHeaders: [],
  answerHeaders: [],
};
