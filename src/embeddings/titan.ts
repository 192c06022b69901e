/** The dialect of Amazon Titan over InvokeModel: one text for each request, the model in the URL. */
import type { EmbedDialect } from "../core/embed-dialect.ts";
import { decodeAwsError } from "../formats/shared/aws-error.ts";
import { count } from "../formats/shared/token-counts.ts";
import { tokensInHeader } from "./bedrock-header.ts";
import { dropExtra, encodeOptions } from "./options.ts";
import { vector } from "./vectors.ts";

export const titanEmbeddings: EmbedDialect = {
  id: "titan-embed",
  maxInputs: 1,
  encodeRequest(request, endpoint, context) {
    dropExtra(request, context);
    const names = { dimensions: "dimensions", inputType: false, user: false } as const;
    return { inputText: request.inputs[0] as string, ...encodeOptions(request, endpoint, context, names) };
  },
  readAnswer({ embedding, inputTextTokenCount }, headers) {
    const found = vector(embedding);
    const input = count(inputTextTokenCount) ?? tokensInHeader(headers);
    return found && { vectors: [found], ...(input !== undefined && { usage: { input } }) };
  },
  decodeError: decodeAwsError,
  requestHeaders: [],
  answerHeaders: [],
};
