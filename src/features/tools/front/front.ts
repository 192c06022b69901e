/** The part of tools in a worker: endpoints, the loop of models, and what operators and pins need. */
import type { JsonObject } from "../../../core/json.ts";
import type { OwnRoute, Seams, WorkerHost } from "../../../gateway/seams.ts";
import type { Ask, Piece, Watched } from "../asks.ts";
import type { AskConnect, ConnectAnswer } from "../auth/connecting.ts";
import { Forgetting } from "../auth/forgetting.ts";
import type { ToolsDown, ToolsUp } from "../messages.ts";
import { toolRepairs } from "../metrics.ts";
import type { OperatorAnswer, OperatorAsk } from "../operator/facts.ts";
import { OperatorLink } from "../operator/link.ts";
import { Pins } from "../pins/pins.ts";
import type { PinsRow } from "../pins/rows.ts";
import type { ToolsConfig } from "../section.ts";
import { Access } from "./access.ts";
import { SharedSeal } from "../seal/shared-seal.ts";
import { ToolsProcess, valueOf } from "./process.ts";
import { OpenStreams } from "./open-streams.ts";
import { lateSeams } from "./routes.ts";
import { revealed } from "./revealed.ts";

export class Front {
  readonly #host: WorkerHost;
  readonly #pins: Pins;
  readonly #process: ToolsProcess;
  readonly #operators: OperatorLink;
  readonly #forgetting: Forgetting;
  readonly #open = new OpenStreams((name) => Object.hasOwn(this.#options.servers, name));
  #options: ToolsConfig;
  #sealKeys: readonly string[];
  /** By the config that serves. */
  #access: Access;
  /** Calls need keys, so that somebody approves tools. */
  #hasCallers = false;
  /** The last list of each server. */
  readonly #lists = new Map<string, readonly JsonObject[]>();

  /** @param sealKeys of the config for tokens at rest */
  constructor(host: WorkerHost, options: ToolsConfig, sealKeys: readonly string[]) {
    this.#host = host;
    this.#options = options;
    this.#sealKeys = sealKeys;
    this.#access = new Access(options, () => this.#called());
    const keeper = host.channel<ToolsUp, ToolsDown>();
    this.#pins = new Pins(host.replica<PinsRow>("tools_pins"), keeper, host.fault);
    this.#pins.configure(options.pins, Object.keys(options.servers));
    const operators = new OperatorLink(keeper, (ask) => this.#answer(ask));
    this.#operators = operators;
    const seal = new SharedSeal(keeper);
    this.#process = new ToolsProcess(
      (introduction) => host.service<Ask, Piece>(introduction),
      () => ({
        ...{ options: revealed(this.#options), sealKeys: this.#sealKeys },
        ...(seal.key !== undefined && { seal: seal.key }),
      }),
      { pins: this.#pins, seal },
      (value) => this.#watched(value),
    );
    // What a process that does not run keeps, no caller gets.
    const isRunning = () => this.#process.isRunning;
    this.#forgetting = new Forgetting(host.gone, this.#connect, isRunning);
    keeper.listen({
      up: () => {
        this.#pins.up();
        this.#operators.up();
        seal.up();
      },
      down: () => {},
      message(message) {
        if ("seal" in message) seal.take(message.seal);
        else void operators.message(message);
      },
    });
  }

  /** @param origins of the section `cors` */
  async seams(options: ToolsConfig, origins: readonly string[]): Promise<Seams> {
    const access = new Access(options, () => this.#called());
    const late = lateSeams(async () => {
      const { serve } = await import("./serving.ts");
      return serve({
        ...{ host: this.#host, options, access, origins },
        ...{ ask: this.#process.ask, open: this.#open, current: () => this.#access },
      });
    });
    return { ...late, routes: [...late.routes!, ...(await this.#connectRoutes(options))] };
  }

  readonly #connect: AskConnect = async (connect) =>
    (await valueOf(this.#process.ask({ kind: "connect", connect }))) as ConnectAnswer;

  /** Pages for accounts of callers; most gateways have none, and do not load them. */
  async #connectRoutes({ url }: ToolsConfig): Promise<readonly OwnRoute[]> {
    if (url === undefined) return [];
    const { connectRoutes } = await import("../auth/connect-routes.ts");
    return connectRoutes(this.#connect, url);
  }

  serves(options: ToolsConfig, sealKeys: readonly string[]): void {
    this.#options = options;
    this.#sealKeys = sealKeys;
    this.#access = new Access(options, () => this.#called());
    // One worker does it for all.
    this.#forgetting.set(this.#host.isFirst && Object.values(options.servers).some(({ auth }) => auth?.user));
    this.#pins.configure(options.pins, Object.keys(options.servers));
    this.#process.introduce();
    this.#operators.serves(options);
    this.#open.look();
  }

  #watched(value: Watched): void {
    if ("report" in value) return this.#operators.report(value.report);
    if ("repaired" in value) return this.#host.meter.add(toolRepairs, [value.server, value.repaired]);
    this.#lists.set(value.server, value.definitions);
    this.#pin(value.server, value.definitions);
  }

  #pin(server: string, definitions: readonly JsonObject[]): void {
    const { pin = this.#hasCallers ? "approve" : "off" } = this.#options;
    this.#pins.report({ server, definitions, mode: pin });
  }

  /** The first caller with a key: from now on what is new waits for approval. */
  #called(): void {
    if (this.#hasCallers) return;
    this.#hasCallers = true;
    for (const [server, definitions] of this.#lists) this.#pin(server, definitions);
  }

  async #answer({ logs: server }: OperatorAsk): Promise<OperatorAnswer> {
    const text = (await valueOf(this.#process.ask({ kind: "logs", server }))) as string;
    return { logs: text === "" ? [] : [{ program: server, text }] };
  }
}
