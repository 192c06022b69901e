/** The operations that clients ask. */
import type { OwnRoute } from "../../gateway/seams.ts";

type Declared = Omit<OwnRoute, "handle">;

const session = (path: string, id: string): Declared => ({
  ...{ method: "GET", path, id, isShared: true },
  summary: "Open a session with a model over a WebSocket",
});

export const SESSIONS: readonly Declared[] = [
  session("/v1/realtime", "openRealtimeSession"),
  session("/openai/v1/realtime", "openAzureRealtimeSession"),
];

export const SECRET: Declared = {
  ...{
    method: "POST",
    path: "/v1/realtime/client_secrets",
    id: "createRealtimeClientSecret",
    isShared: true,
  },
  summary: "A secret by which a browser opens one session",
};

const unmetered = (path: string, id: string): Declared => ({
  ...{ method: "POST", path, id, isShared: true },
  summary: "Refused: the media would go around weir",
});

/** By these, media would go around weir. */
export const UNMETERED: readonly Declared[] = [
  unmetered("/v1/realtime/calls", "createRealtimeCall"),
  unmetered("/v1/realtime/calls/{id}/accept", "acceptRealtimeCall"),
  unmetered("/v1/realtime/calls/{id}/hangup", "hangUpRealtimeCall"),
  unmetered("/v1/realtime/calls/{id}/refer", "referRealtimeCall"),
  unmetered("/v1/realtime/calls/{id}/reject", "rejectRealtimeCall"),
];
