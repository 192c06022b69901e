/** The id of the format. The fields that only this format has are in `ChatRequest.extra` under it. */
export const FORMAT = "converse";
