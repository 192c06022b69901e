/** The part of a process that serves sessions. Their code is loaded with the first one. */
import type { Channel } from "../../core/channel.ts";
import type { OwnRoute, Seams, WorkerHost, WorkerPart } from "../../gateway/seams.ts";
import { SECRET, SESSIONS, UNMETERED } from "./declarations.ts";
import type { SecretDown, SecretUp } from "./secrets/messages.ts";
import { realtimeSection } from "./section.ts";
import type { Sessions } from "./serve.ts";

export const start = (host: WorkerHost): WorkerPart => new RealtimeWorker(host);

class RealtimeWorker implements WorkerPart {
  readonly #host: WorkerHost;
  readonly #keeper: Channel<SecretUp, SecretDown>;
  #sessions: Promise<Sessions> | undefined;

  constructor(host: WorkerHost) {
    this.#host = host;
    this.#keeper = host.channel();
  }

  seams(config: object): Seams | undefined {
    const settings = realtimeSection.of(config);
    if (!settings.enabled) return undefined;
    const sessions = SESSIONS.map((route): OwnRoute => ({
      ...route,
      handle: async (request, visit) => (await this.#load()).open(request, visit, route.path, settings),
    }));
    const refused = UNMETERED.map((route): OwnRoute => ({
      ...route,
      handle: async (_request, visit) => (await this.#load()).refuse(visit),
    }));
    const secret: OwnRoute = {
      ...SECRET,
      handle: async (_request, visit) => (await this.#load()).issue(visit),
    };
    return { routes: [...sessions, secret, ...refused] };
  }

  async stop(): Promise<void> {
    await (await this.#sessions)?.drain();
  }

  #load(): Promise<Sessions> {
    return (this.#sessions ??= import("./serve.ts").then(
      ({ Sessions: Loaded }) => new Loaded(this.#host, this.#keeper),
    ));
  }
}
