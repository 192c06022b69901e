/** Sessions of speech and text over a WebSocket: OpenAI's Realtime API. The events pass as they are. */
import type { KnownKind } from "../../core/model-kind.ts";

/** Of OpenAI, and of those who speak as it does. */
export const DIALECT = "openai-realtime";

export const realtime: KnownKind = {
  id: "realtime",
  lacks: "holds no sessions",
  mock: "realtime",
  gives: ["audio"],
  dialects: [{ id: DIALECT }],
  sessionsAt: "/v1/realtime",
};
