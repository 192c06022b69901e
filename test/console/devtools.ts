/** The DevTools protocol over one WebSocket, as far as the tests of the console need it. */

/** An event, or the answer to a command. */
interface Message {
  id?: number;
  method?: string;
  params?: unknown;
  sessionId?: string;
  result?: unknown;
  error?: { message: string };
}

export class DevTools {
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

  /** @param url `ws://127.0.0.1:PORT/devtools/browser/…` */
  static async connect(url: string): Promise<DevTools> {
    const socket = new WebSocket(url);
    await new Promise<void>((resolve, reject) => {
      socket.onopen = () => resolve();
      socket.onerror = () => reject(new Error(`No connection to ${url}.`));
    });
    return new DevTools(socket);
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
  on<Params>(sessionId: string, method: string, receive: (params: Params) => void): void {
    this.#listeners.set(`${sessionId} ${method}`, receive);
  }

  close(): void {
    this.#socket.close();
  }

  #receive({ id, method, params, sessionId, result, error }: Message): void {
    if (id === undefined) return this.#listeners.get(`${sessionId} ${method}`)?.(params as never);
    const answered = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error) answered?.reject(new Error(error.message));
    else answered?.resolve(result);
  }
}
