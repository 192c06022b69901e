/** What each model supports on `/v1/messages`. */
export { defaultMaxTokens, modelFacts, type ModelFacts } from "../shared/claude-models.ts";
