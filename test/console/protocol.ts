/** The protocol of a browser over one WebSocket: DevTools of Chromium, or WebDriver BiDi of Firefox. */

/** An event, or the answer to a command. */
interface Message {
  id?: number;
  method?: string;
  params?: { context?: string; source?: { context?: string } };
  /** The tab, in DevTools; BiDi names it in the parameters. */
  sessionId?: string;
  result?: unknown;
  /** DevTools has the sentence in it, BiDi beside it. */
  error?: { message: string } | string;
  message?: string;
}

export class Protocol {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #listeners = new Map<string, (params: never) => void>();
  #last = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.onmessage = ({ data }) => this.#receive(JSON.parse(String(data)) as Message);
    socket.onclose = () => {
      for (const { reject } of this.#waiting.values()) reject(new Error("The browser has ended."));
      this.#waiting.clear();
    };
  }

  /** @param url `ws://127.0.0.1:PORT/…` */
  static async connect(url: string): Promise<Protocol> {
    const socket = new WebSocket(url);
    await new Promise<void>((resolve, reject) => {
      socket.onopen = () => resolve();
      socket.onerror = () => reject(new Error(`No connection to ${url}.`));
    });
    return new Protocol(socket);
  }

  /** Sends a command, to a tab or to the browser. @throws Error with the browser's message */
  async send<Result>(method: string, params: object = {}, sessionId?: string): Promise<Result> {
    const id = (this.#last += 1);
    const answered = Promise.withResolvers<unknown>();
    this.#waiting.set(id, answered);
    this.#socket.send(JSON.stringify({ id, method, params, sessionId }));
    return (await answered.promise) as Result;
  }

  /** Calls `receive` for each event of this name of a tab. */
  on<Params>(tab: string, method: string, receive: (params: Params) => void): void {
    this.#listeners.set(`${tab} ${method}`, receive);
  }

  close(): void {
    this.#socket.close();
  }

  #receive({ id, method, params, sessionId, result, error, message }: Message): void {
    if (id === undefined) {
      const tab = sessionId ?? params?.context ?? params?.source?.context;
      return this.#listeners.get(`${tab} ${method}`)?.(params as never);
    }
    const answered = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) answered?.resolve(result);
    else answered?.reject(new Error(typeof error === "string" ? `${error}: ${message}` : error.message));
  }
}
