/** Events of streamed answers as providers send them. */

/** A chunk of chat-completions. */
export function chatChunk(delta: object, finish: string | null = null, index = 0): string {
  const choices = [{ index, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: "c1", object: "chat.completion.chunk", created: 1, model: "m", choices })}\n\n`;
}

/** An event of messages. */
export function messagesEvent(type: string, more: object = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
}

/** A whole answer in messages, each event one element: one text block with one delta for each text. */
export function messagesText(...texts: string[]): string[] {
  return [
    messagesEvent("message_start", {
      message: {
        id: "m1",
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    }),
    messagesEvent("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    ...texts.map((text) =>
      messagesEvent("content_block_delta", { index: 0, delta: { type: "text_delta", text } }),
    ),
    messagesEvent("content_block_stop", { index: 0 }),
    messagesEvent("message_delta", {
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { output_tokens: 2 },
    }),
    messagesEvent("message_stop"),
  ];
}
