/** The answer of a provider that speaks chat-completions. */
export const CHAT_ANSWER = {
  ...{ id: "c1", object: "chat.completion", created: 1, model: "some-model" },
  choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
};
