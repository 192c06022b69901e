/** The part of a gateway that keeps files of clients. The code that serves them is loaded when one is first asked for. */
import type { Channel } from "../../core/channel.ts";
import {
  type ByteRange,
  type FileFacts,
  type KeptFile,
  type KeptFiles,
  keptFiles,
} from "../../core/kept-files.ts";
import type { Principal } from "../../core/principal.ts";
import type { OwnRoute, Seams, WorkerHost, WorkerPart } from "../../gateway/seams.ts";
import { ROUTES } from "./declarations.ts";
import type { FilesDown, FilesUp } from "./messages.ts";
import { filesSection, NOWHERE } from "./section.ts";
import type { Serving } from "./serving.ts";

export const start = (host: WorkerHost): WorkerPart => new FilesWorker(host);

class FilesWorker implements WorkerPart {
  readonly #host: WorkerHost;
  readonly #channel: Channel<FilesUp, FilesDown>;
  #loading: Promise<Serving> | undefined;
  #serving: Serving | undefined;
  /** What the keeper said before the code was loaded. */
  #said: FilesDown | undefined;
  #config: object | undefined;

  constructor(host: WorkerHost) {
    this.#host = host;
    this.#channel = host.channel();
    this.#channel.listen({
      up: () => {
        this.#serving?.came();
        this.#tell();
      },
      down: () => this.#serving?.lost(),
      message: (message) => {
        if (this.#serving) this.#serving.received(message);
        else this.#said = message;
      },
    });
  }

  seams(config: object): Seams | undefined {
    if (filesSection.of(config).where === NOWHERE) return undefined;
    const routes = ROUTES.map((route): OwnRoute => {
      const { method, path, id, summary } = route;
      return {
        ...{ method, path, id, summary, isShared: true },
        handle: async (request, visit) => (await this.#load()).serve(route, request, visit, config),
      };
    });
    return { routes, resolves: this.#resolve(config), foresee: this.#foresee(config) };
  }

  #foresee(config: object): NonNullable<Seams["foresee"]> {
    return async (incoming) => {
      if (!incoming.format.client.facts.files?.mayHave(incoming.bytes)) return undefined;
      const { foreseeFiles } = await import("./inline/foresee.ts");
      const { limitsOf } = await import("./settings.ts");
      const { vault } = await this.#load();
      return foreseeFiles(incoming, { files: vault, most: limitsOf(config).inline });
    };
  }

  /** Files that requests name go into them; their code is loaded with the first request that may name one. */
  #resolve(config: object): NonNullable<Seams["resolves"]> {
    return ({ call, bytes, client }) => {
      const places = client.facts.files;
      if (!places?.mayHave(bytes)) return undefined;
      return (async () => {
        const { inlined } = await import("./inline/inline.ts");
        const { limitsOf } = await import("./settings.ts");
        const { vault } = await this.#load();
        return inlined({ call, bytes, places, files: vault, most: limitsOf(config).inline });
      })();
    };
  }

  serves(config: object): void {
    this.#config = config;
    if (filesSection.of(config).where !== NOWHERE && !keptFiles.get(this.#host.offers))
      keptFiles.set(this.#host.offers, new LateFiles(async () => (await this.#load()).vault));
    this.#serving?.configure(config);
    this.#tell();
  }

  #tell(): void {
    if (!this.#channel.isUp || !this.#config) return;
    const { where } = filesSection.of(this.#config);
    this.#channel.send({ settings: where === NOWHERE ? null : { where } });
  }

  async #load(): Promise<Serving> {
    this.#loading ??= import("./serving.ts").then(({ Serving }) => {
      const serving = new Serving(this.#channel, this.#host, this.#config ?? {});
      if (this.#said) serving.received(this.#said);
      return (this.#serving = serving);
    });
    return this.#loading;
  }
}

/** The files for other parts, whose code is loaded with the first use. */
class LateFiles implements KeptFiles {
  readonly #load: () => Promise<KeptFiles>;

  constructor(load: () => Promise<KeptFiles>) {
    this.#load = load;
  }

  async find(id: string, principal: Principal | undefined): Promise<KeptFile | undefined> {
    return (await this.#load()).find(id, principal);
  }

  async *read(file: KeptFile, range?: ByteRange): AsyncGenerator<Uint8Array, void, undefined> {
    yield* (await this.#load()).read(file, range);
  }

  async write(facts: FileFacts, bytes: AsyncIterable<Uint8Array>, id?: string): Promise<KeptFile> {
    return (await this.#load()).write(facts, bytes, id);
  }

  async remove(id: string): Promise<void> {
    return (await this.#load()).remove(id);
  }

  async hold(id: string, by: string): Promise<void> {
    return (await this.#load()).hold(id, by);
  }

  async release(id: string, by: string): Promise<void> {
    return (await this.#load()).release(id, by);
  }
}
