/** Sessions over a WebSocket. */
import { type Static, Type } from "@sinclair/typebox";
import { section } from "../../config/section.ts";
import { CLOSED, milliseconds } from "../../config/sections/kinds.ts";

export const realtimeSection = section(
  "realtime",
  Type.Object(
    {
      enabled: Type.Boolean({
        default: true,
        description: "Whether clients may open sessions with models over a WebSocket (`/v1/realtime`).",
      }),
      perKey: Type.Integer({
        minimum: 1,
        maximum: 100_000,
        default: 1_000,
        description: "Most sessions that a key has open at once in each worker.",
      }),
      sessionMs: milliseconds(
        3_600_000,
        "Longest time of a session, in milliseconds. OpenAI ends a session after an hour.",
      ),
      unguarded: Type.Boolean({
        default: false,
        description:
          "Whether a caller whose requests guards inspect may open sessions, whose texts and audio no guard inspects.",
      }),
      transcription: Type.Optional(
        Type.String({
          minLength: 1,
          description:
            "The model for sessions that only transcribe (`/v1/realtime?intent=transcription`): their clients name none when they open them. Absent: weir refuses such sessions.",
        }),
      ),
    },
    { ...CLOSED, description: "Sessions with models over a WebSocket, in OpenAI's Realtime API." },
  ),
  { after: ["files", "guards", "paidOnce", "cache", "tape", "capture", "responses"] },
);

export type RealtimeConfig = Static<typeof realtimeSection.schema>;
