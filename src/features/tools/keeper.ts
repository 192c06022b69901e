/** The part in the keeper: writes down what servers list, and knows what workers know for operators. */
import type { KeeperHost, KeeperPart } from "../../keeper/seams.ts";
import type { ToolsDown, ToolsUp } from "./messages.ts";
import { OperatorPart } from "./operator/part.ts";
import { toolsPart } from "./operator/slots.ts";
import type { PinsBook } from "./pins/book.ts";
import { SeenLists } from "./pins/seen-lists.ts";
import { sealKey } from "./seal/row.ts";

export function start(host: KeeperHost): KeeperPart<ToolsUp, ToolsDown> {
  let loaded: Promise<PinsBook> | undefined;
  const book = () => (loaded ??= import("./pins/book.ts").then(({ PinsBook }) => new PinsBook(host)));
  const seen = new SeenLists(async (list) => (await book()).see(list), host.report);
  const operator = new OperatorPart();
  toolsPart.set(host.offers, {
    book,
    servers: () => operator.servers(),
    pinFile: () => operator.pinFile,
    reportOf: (server) => operator.reportOf(server),
    ask: (ask) => operator.ask(ask),
  });
  return {
    connect(send) {
      const worker = { send };
      operator.connect(worker);
      return {
        receive(message) {
          if ("seen" in message) seen.add(message.seen);
          else if ("wants" in message)
            sealKey(host).then(
              (seal) => send({ seal }),
              (cause: unknown) => host.report(`tools: the key of the store cannot be read: ${String(cause)}`),
            );
          else operator.receive(message);
        },
        ended: () => operator.ended(worker),
      };
    },
    close: () => seen.stop(),
  };
}
