/** Response sockets: answers of `/v1/responses` over a WebSocket, one after another on one connection. */
import type { Feature } from "../../feature/feature.ts";
import { responseSocketsSection } from "./section.ts";

export const responseSockets: Feature = {
  name: "response-sockets",
  section: responseSocketsSection,
  worker: () => import("./worker.ts"),
};
