/** The format of the answer (`response_format`). */
export { encodeAnswerFormat } from "../../shared/openai-answer-format.ts";
