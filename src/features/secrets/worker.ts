/** The part in each process that serves calls: it keeps the secrets of the config fresh, and tells the keeper how old they are. */
import type { WorkerHost, WorkerPart } from "../../gateway/seams.ts";
import type { Book } from "./book.ts";
import type { SecretRow } from "./rows.ts";

/** Several secrets are often read at once. Milliseconds. */
const GATHER_MS = 50;

export function start(host: WorkerHost): WorkerPart {
  const { references } = host;
  let book: Book | undefined;
  let timer: Timer | undefined;
  const channel = host.channel<readonly SecretRow[], never>();
  const tell = () => {
    clearTimeout(timer);
    timer = setTimeout(() => channel.isUp && book && channel.send(book.rows()), GATHER_MS);
    timer.unref();
  };
  channel.listen({ up: tell, down: () => {}, message: () => {} });
  const listener = {
    fault: (sentence: string) => host.isFirst && host.fault(sentence),
    info: (sentence: string) => host.isFirst && host.info(sentence),
    changed: tell,
  };
  return {
    async seams() {
      if (references && references.uses.length > 0) book ??= (await references.reader()) as Book;
      return undefined;
    },
    serves: () => book?.watch(listener),
    startLines: () =>
      [...(references?.off ?? [])].map(([provider, fault]) => `secrets: ${provider} is off: ${fault}`),
    stop: () => book?.stop(),
  };
}
