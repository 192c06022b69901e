/** WebSockets of `/v1/responses`. */
import { type Static, Type } from "@sinclair/typebox";
import { section } from "../../config/section.ts";
import { CLOSED } from "../../config/sections/kinds.ts";

export const responseSocketsSection = section(
  "responseSockets",
  Type.Object(
    {
      enabled: Type.Boolean({
        default: true,
        description:
          "Whether clients may ask for responses over a WebSocket (`GET /v1/responses`). Without it weir answers 426, and clients go on by HTTP.",
      }),
      perKey: Type.Integer({
        minimum: 1,
        maximum: 100_000,
        default: 1_000,
        description: "Most connections that a key has open at once in each worker.",
      }),
    },
    { ...CLOSED, description: "Responses over a WebSocket, in OpenAI's Responses API." },
  ),
  { after: ["realtime", "files", "guards", "paidOnce", "cache", "tape", "capture", "responses"] },
);

export type ResponseSocketsConfig = Static<typeof responseSocketsSection.schema>;
