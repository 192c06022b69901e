/** Sessions of speech and text over a WebSocket: OpenAI's Realtime API. The events pass as they are. */
import type { KnownKind } from "../../core/model-kind.ts";

export const realtime: KnownKind = {
  id: "realtime",
  lacks: "holds no sessions",
  mock: "realtime",
  gives: ["audio"],
  dialects: [{ id: "openai-realtime" }],
  sessionsAt: "/v1/realtime",
};
