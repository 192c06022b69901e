/** The part in the keeper: rows of files, their keys, and what expires. Its code is loaded when it is used first. */
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KeeperHost, KeeperPart } from "../../keeper/seams.ts";
import type { Answerer } from "./book/answerer.ts";
import type { FilesDown, FilesSettings, FilesUp } from "./messages.ts";
import { filesPart } from "./slots.ts";

/** From the start to the first sweep, and from one to the next. Milliseconds. */
const FIRST_MS = 15_000;
const EVERY_MS = 600_000;

export function start(host: KeeperHost): KeeperPart<FilesUp, FilesDown> {
  const folder = new FilesFolder(host.folder);
  let loaded: Promise<Answerer> | undefined;
  const answerer = () =>
    (loaded ??= import("./book/answerer.ts").then(({ Answerer }) => new Answerer(host, () => folder.path)));
  filesPart.set(host.offers, answerer);
  let settings: FilesSettings | undefined;
  const sweep = () => void answerer().then((part) => part.sweep(settings));
  let timers: readonly Timer[] = [];
  const begin = () => {
    if (timers.length === 0) timers = [setTimeout(sweep, FIRST_MS), setInterval(sweep, EVERY_MS)];
    for (const timer of timers) timer.unref();
  };
  return {
    connect: (send) => ({
      receive(message) {
        if ("ask" in message) {
          const { number, ask } = message;
          return void answerer()
            .then((part) => part.answer(ask))
            .then((answer) => send({ number, answer }));
        }
        settings = message.settings ?? undefined;
        if (!settings) return;
        send({ folder: folder.path });
        begin();
      },
      ended() {},
    }),
    async close() {
      for (const timer of timers) clearTimeout(timer);
      await loaded;
      folder.close();
    },
  };
}

/** The folder of files in the state folder; without a state folder one that goes with the keeper. */
class FilesFolder {
  readonly #state: string | undefined;
  #temporary: string | undefined;

  constructor(state: string | undefined) {
    this.#state = state;
  }

  get path(): string {
    if (this.#state !== undefined) return join(this.#state, "files");
    // The first file makes it: where nothing can be written, nothing is made.
    return (this.#temporary ??= join(tmpdir(), `weir-files-${crypto.randomUUID()}`));
  }

  close(): void {
    if (this.#temporary !== undefined) rmSync(this.#temporary, { recursive: true, force: true });
    this.#temporary = undefined;
  }
}
