/** What each model supports on `/v1/responses`. */
export { modelFacts, type ModelFacts, takesSampling } from "../shared/openai-models.ts";
