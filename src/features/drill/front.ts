/** The address that a client gets in one run: a listener of its own, which passes requests to the gateway and plays faults. */
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import type { Fault } from "./faults.ts";
import { play } from "./play.ts";
import type { Exchange, Exchanges } from "./plugin.ts";
import { readRequest } from "./read-request.ts";
import { askGateway } from "./whole-answer.ts";
import type { Witness } from "./witness.ts";

export interface FrontOptions {
  /** URL of the drill's gateway. */
  gateway: string;
  exchanges: Exchanges;
  /** Absent in the baseline. */
  fault?: Fault;
  witness: Witness;
}

const HOST = "127.0.0.1";

export class Front {
  readonly #options: FrontOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(options: FrontOptions) {
    this.#options = options;
    this.#server = createServer({ allowHalfOpen: true }, (socket) => {
      // What is no HTTP/1.1 gets no answer.
      void this.#serve(socket).catch(() => socket.destroy());
    });
  }

  /** @param port default: a free one */
  static async listen(options: FrontOptions, port = 0): Promise<Front> {
    const front = new Front(options);
    await new Promise<void>((resolve, reject) => {
      front.#server.once("error", reject);
      front.#server.listen(port, HOST, resolve);
    });
    return front;
  }

  get url(): string {
    return `http://${HOST}:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Closes the listener and all connections. */
  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #serve(socket: Socket): Promise<void> {
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    // A client that leaves resets the connection.
    socket.on("error", () => socket.destroy());
    const request = await readRequest(socket);
    if (!request) return void socket.destroy();
    const { gateway, exchanges, fault, witness } = this.#options;
    const exchange: Exchange = { fault, witness };
    const id = crypto.randomUUID();
    exchanges.set(id, exchange);
    const answer = await askGateway(gateway, id, exchange, request).finally(() => exchanges.delete(id));
    const { made } = exchange;
    const wire = made?.faulty && fault?.script.kind === "wire" ? fault.script.wire : undefined;
    const { left, ...played } = await play(socket, answer, wire);
    if (!made) return;
    Object.assign(made, played);
    witness.ended(made, left);
  }
}

/** An address that refuses connections for some time. */
export class RefusingFront {
  readonly url: string;
  readonly #timer: ReturnType<typeof setTimeout>;
  #opening?: Promise<Front | undefined>;

  private constructor(port: number, delay: number, options: FrontOptions) {
    this.url = `http://${HOST}:${port}`;
    this.#timer = setTimeout(() => {
      // Another program may have taken the port: then it stays closed for the client.
      this.#opening = Front.listen(options, port).catch(() => undefined);
    }, delay);
  }

  /** Finds a free port. @param delay until a front listens on it, in milliseconds */
  static async open(options: FrontOptions, delay: number): Promise<RefusingFront> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise<void>((resolve) => server.close(() => resolve()));
    return new RefusingFront(port, delay, options);
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await (await this.#opening)?.close();
  }
}
