/** The part of a process that serves sessions. Their code is loaded with the first one. */
import type { OwnRoute, Seams, WorkerHost, WorkerPart } from "../../gateway/seams.ts";
import { ENDPOINT, SECRETS_PATH, SESSION_PATHS, UNMETERED, unmetered } from "./routes.ts";
import type { SecretDown, SecretUp } from "./secrets/messages.ts";
import { Secrets } from "./secrets/secrets.ts";
import { realtimeSection } from "./section.ts";
import { Sessions } from "./serve.ts";

export const start = (host: WorkerHost): WorkerPart => new RealtimeWorker(host);

class RealtimeWorker implements WorkerPart {
  readonly #sessions: Sessions;

  constructor(host: WorkerHost) {
    this.#sessions = new Sessions(host, new Secrets(host.channel<SecretUp, SecretDown>()));
  }

  seams(config: object): Seams | undefined {
    const settings = realtimeSection.of(config);
    if (!settings.enabled) return undefined;
    const sessions = SESSION_PATHS.map((path, at): OwnRoute => {
      const id = at === 0 ? "openRealtimeSession" : "openAzureRealtimeSession";
      return {
        ...{ method: "GET", path, id, isShared: true },
        summary: "Open a session with a model over a WebSocket",
        handle: async (request, visit) => this.#sessions.open(request, visit, path, settings),
      };
    });
    const refused = UNMETERED.map(([path, id]): OwnRoute => ({
      ...{ method: "POST", path, id, isShared: true },
      summary: "Refused: the media would go around weir",
      async handle(_request, visit) {
        await visit.caller(ENDPOINT);
        throw unmetered();
      },
    }));
    const secret: OwnRoute = {
      ...{ method: "POST", path: SECRETS_PATH, id: "createRealtimeClientSecret", isShared: true },
      summary: "A secret by which a browser opens one session",
      handle: async (_request, visit) => this.#sessions.issue(visit),
    };
    return { routes: [...sessions, secret, ...refused] };
  }

  async stop(): Promise<void> {
    await this.#sessions.drain();
  }
}
