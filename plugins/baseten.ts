import { chatCompletions, definePlugin } from "weir";

/** The shared models; a deployment of your own has an address of its own (`BASETEN_BASE_URL`). */
export default definePlugin({
  name: "baseten",
  providers: [
    chatCompletions({
      name: "baseten",
      models: ["baseten/*"],
      baseUrl: "https://inference.baseten.co/v1",
      apiKey: "BASETEN_API_KEY",
      traits: { topK: true },
      catalog: ["openai/gpt-oss-120b", "deepseek-ai/DeepSeek-V3.1", "moonshotai/Kimi-K2-Instruct-0905"],
    }),
  ],
});
