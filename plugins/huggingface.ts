import { chatCompletions, definePlugin } from "weir";

/** The router of Hugging Face: `MODEL:HOST` names the host that serves the model, `MODEL` lets the router choose. */
export default definePlugin({
  name: "huggingface",
  providers: [
    chatCompletions({
      name: "huggingface",
      models: ["huggingface/*"],
      baseUrl: "https://router.huggingface.co/v1",
      // The last two are the variables of huggingface_hub.
      credentials: [["HUGGINGFACE_API_KEY"], ["HF_TOKEN"], ["HUGGING_FACE_HUB_TOKEN"]],
      // The hosts differ in whether they separate the reasoning from the text.
      traits: { thinkTags: true },
      catalog: ["openai/gpt-oss-120b", "deepseek-ai/DeepSeek-V3.2", "meta-llama/Llama-3.3-70B-Instruct"],
    }),
  ],
});
