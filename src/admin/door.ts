/** The listening side of the admin API: takes requests before there is anybody who answers, and can leave its address to another process. */
import { describeFileError, systemCode } from "../core/system-error.ts";
import { type AdminSettings, DEFAULT_PORT } from "../operator/settings.ts";

type Answer = (request: Request, address: string) => Promise<Response>;

/** Idle timeout of a connection, in seconds; the longest operations read the whole store. */
const IDLE_SECONDS = 255;
/** What the system has queued is accepted in this time, and a client that asks all the time hears that its connection ends. Milliseconds. */
const QUEUED_MS = 50;
const LAST_MS = 250;
/** Maximum time for running requests to end; live pages do not. Milliseconds. */
const LEAVE_MS = 1_000;
const LOOK_MS = 10;

export class Door {
  readonly port: number;
  readonly #server: ReturnType<typeof Bun.serve>;
  readonly #answer = Promise.withResolvers<Answer>();
  #isLeaving = false;

  /**
   * @param isShared whether the keeper before this one listens there too
   * @throws Error with one sentence if the configured port is taken
   */
  constructor(settings: AdminSettings, isShared = false) {
    this.#server = open((port) => this.#listen(settings.host, port, isShared), settings);
    this.port = this.#server.port ?? 0;
  }

  /** Requests that wait, and all later ones, are answered. */
  serve(answer: Answer): void {
    this.#answer.resolve(answer);
  }

  /** Lets the next keeper listen at the same address. @throws Error with one sentence where the system cannot do it */
  async share(): Promise<void> {
    await (await import("../process/listeners.ts")).shareListening(this.port);
  }

  /** Another process listens at the same address: takes no more connections. @returns when the requests of this one have ended */
  async leave(): Promise<void> {
    const { stopListening } = await import("../process/listeners.ts");
    await Bun.sleep(QUEUED_MS);
    this.#isLeaving = true;
    await stopListening(this.port);
    await Bun.sleep(LAST_MS);
    for (let ms = 0; this.#server.pendingRequests > 0 && ms < LEAVE_MS; ms += LOOK_MS)
      await Bun.sleep(LOOK_MS);
  }

  stop(): void {
    void this.#server.stop(true);
  }

  #listen(hostname: string, port: number, reusePort: boolean) {
    return Bun.serve({
      hostname,
      port,
      idleTimeout: IDLE_SECONDS,
      development: false,
      // By default Bun shares the port with other processes of the user when `development` is off.
      reusePort,
      fetch: async (request, bun) => {
        const address = bun.requestIP(request)?.address ?? "";
        const answer = await this.#answer.promise;
        const response = await answer(request, address);
        if (this.#isLeaving) response.headers.set("connection", "close");
        return response;
      },
    });
  }
}

function open<Server>(listen: (port: number) => Server, { host, port }: AdminSettings): Server {
  try {
    return listen(port ?? DEFAULT_PORT);
  } catch (cause) {
    if (port === undefined && systemCode(cause) === "EADDRINUSE") return listen(0);
    const why = systemCode(cause) === "EADDRINUSE" ? "the port is taken" : describeFileError(cause);
    throw new Error(`the admin API cannot listen on ${host}:${port ?? DEFAULT_PORT}: ${why}`, { cause });
  }
}
